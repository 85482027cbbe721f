-- When exchanges of connections with several views began and were answered, in each view.
SELECT part, correlation_id, api_key, request_time_ns, response_time_ns
FROM raw_exchanges
WHERE status = 'answered' AND part IN (SELECT part FROM view_members)
