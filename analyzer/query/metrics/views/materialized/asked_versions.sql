-- Which APIs were asked in which versions on each connection, by client id, and when they
-- were asked first and last: one pass over all exchanges for what judges versions.
SELECT
    connection, client_address, client_id, api_key, api_name, api_version, max(status <> 'orphan_reply') AS has_request,
    min(request_time_ns) AS first_time_ns, max(request_time_ns) AS last_time_ns
FROM all_exchanges
GROUP BY connection, client_address, client_id, api_key, api_name, api_version
