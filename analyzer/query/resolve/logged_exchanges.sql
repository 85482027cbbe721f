-- Exchanges with the broker's own account of them, where a line of its log of requests is about them.
SELECT
    x.* REPLACE (
        -- Users whom the packets do not name. Without a login everybody is called so.
        coalesce(x.principal, nullif(l.principal, 'User:ANONYMOUS')) AS principal,
        l.total_ns AS log_total_ns,
        l.queue_ns AS log_queue_ns,
        l.local_ns AS log_local_ns,
        l.remote_ns AS log_remote_ns,
        l.throttle_ns AS log_throttle_ns,
        l.response_queue_ns AS log_response_queue_ns,
        l.send_ns AS log_send_ns
    )
FROM exchanges_of_packets AS x
LEFT JOIN (
    SELECT
        p.exchange,
        any_value(r.principal) AS principal,
        any_value(r.total_ns) AS total_ns,
        any_value(r.queue_ns) AS queue_ns,
        any_value(r.local_ns) AS local_ns,
        any_value(r.remote_ns) AS remote_ns,
        any_value(r.throttle_ns) AS throttle_ns,
        any_value(r.response_queue_ns) AS response_queue_ns,
        any_value(r.send_ns) AS send_ns
    FROM log_pairs AS p
    JOIN raw_log_requests AS r ON r.log = p.log AND r.line = p.line
    GROUP BY p.exchange
) AS l ON l.exchange = x.exchange
