-- When the newest successful request began of APIs whose answer says that an earlier error was normal (`followed` in
-- expected_errors), for each part and client id; and the newest whose answer is not known: lost, cut or still to come.
SELECT
    part,
    client_id,
    api_key,
    max(CASE WHEN error_code = 0 THEN request_time_ns END) AS last_ns,
    max(CASE WHEN error_code IS NULL THEN request_time_ns END) AS unsure_ns
FROM raw_exchanges
WHERE api_key BETWEEN 15 AND 24 AND api_key IN (15, 18, 24) AND (error_code = 0 OR error_code IS NULL)
GROUP BY part, client_id, api_key
