-- Which requests of which clients took 500 ms or longer? One row per client, broker and API, that which waited most in all first.
SELECT * FROM slow_requests ORDER BY weight DESC, first_time_ns, api_name
