-- When the newest successful request began of APIs whose answer says that an earlier error was normal (`followed` in
-- expected_errors), for each part and client id.
SELECT part, client_id, api_key, max(request_time_ns) AS last_ns
FROM raw_exchanges
WHERE api_key BETWEEN 15 AND 24 AND api_key IN (15, 18, 24) AND error_code = 0
GROUP BY part, client_id, api_key
