-- What have the captures and the brokers' logs of requests (--request-log) of each other? One row for each outcome, how many requests:
-- `side` log, outcomes as in `log_requests`; `side` capture, requests to the same brokers without a line: login (before a login and
-- during it brokers log nothing), envelope (of an Envelope the request inside is logged), no_reply (the capture has no reply, as
-- where a broker stopped), outside (before the first line or after the last: the log was rotated, or begins later), no_clock (too
-- little agrees to know the difference of the clocks), not_logged.
-- `ahead_ns`: how far the clock of the log is ahead of the capture's, on average; null where it is not known.
WITH logs AS (
    SELECT broker_address, broker_port, min(begin_ns) AS first_ns, max(time_ns) AS last_ns
    FROM all_log_requests
    GROUP BY broker_address, broker_port
),
logins AS (
    SELECT connection, max(response_time_ns) AS until_ns
    FROM exchanges
    WHERE api_key IN (api('SaslHandshake', 'SaslAuthenticate'))
    GROUP BY connection
),
unlogged AS (
    SELECT
        CASE
            WHEN x.api_key IN (api('SaslHandshake', 'SaslAuthenticate')) OR x.api_key IS NULL THEN 'login'
            WHEN x.api_key = api('ApiVersions') AND x.request_time_ns < s.until_ns THEN 'login'
            WHEN x.api_key = api('Envelope') THEN 'envelope'
            WHEN l.first_ns IS NULL THEN 'no_clock'
            WHEN x.request_time_ns < l.first_ns OR x.request_time_ns > l.last_ns THEN 'outside'
            WHEN x.status <> 'answered' AND x.status <> 'no_reply_expected' THEN 'no_reply'
            ELSE 'not_logged'
        END AS outcome
    FROM exchanges AS x
    JOIN logs AS l ON l.broker_address = x.broker_address AND l.broker_port = x.broker_port
    LEFT JOIN logins AS s ON s.connection = x.connection
    WHERE x.log_total_ns IS NULL AND x.request_time_ns IS NOT NULL
)
SELECT
    'log' AS side,
    outcome,
    count(*) AS requests,
    CAST(round(avg(logged_time_ns - time_ns)) AS BIGINT) AS ahead_ns
FROM log_requests
GROUP BY outcome
UNION ALL
SELECT 'capture' AS side, outcome, count(*) AS requests, NULL AS ahead_ns
FROM unlogged
GROUP BY outcome
ORDER BY side DESC, requests DESC, outcome
