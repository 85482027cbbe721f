-- Lines of logs of requests by the capture's clock: when the broker had the request, and when it had written the reply. Null where the
-- difference of the clocks is not known.
SELECT
    r.log,
    r.line,
    r.logged_ns - c.offset_ns - CAST(round(c.drift * (r.logged_ns - c.at_ns)) AS BIGINT) AS end_ns,
    r.logged_ns - c.offset_ns - CAST(round(c.drift * (r.logged_ns - c.at_ns)) AS BIGINT) - r.total_ns AS begin_ns,
    c.slack_ns
FROM raw_log_requests AS r
LEFT JOIN log_clocks AS c ON c.log = r.log AND c.broker_address = r.broker_address
