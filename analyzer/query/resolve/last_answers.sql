-- When the newest successful request began of APIs whose answer says that an earlier error was normal (`followed` in
-- expected_errors), for each part and client id; and the newest whose answer is not known: lost, cut or still to come.
SELECT
    part,
    client_id,
    api_key,
    max(CASE WHEN error_code = error('NONE') THEN request_time_ns END) AS last_ns,
    max(CASE WHEN error_code IS NULL THEN request_time_ns END) AS unsure_ns
FROM raw_exchanges
WHERE api_key BETWEEN api('JoinGroup') AND api('AddPartitionsToTxn')
    AND api_key IN (api('JoinGroup', 'DescribeGroups', 'ApiVersions', 'AddPartitionsToTxn'))
    AND (error_code = error('NONE') OR error_code IS NULL)
GROUP BY part, client_id, api_key
