-- How long do clients' requests take, by API and kind, or by what `settings` asks for? `count` is requests, percentiles are
-- of latency_ns (request's last byte to reply's first), or of service_ns, broker_ns or total_ns. Sums of parts: see latency_slices.
SELECT
    l.slot_ns,
    l.reach,
    l.api_name,
    l.kind,
    l.api_version,
    l.error_code,
    l.client_id,
    l.client_address,
    l.client_port,
    l.application,
    l.client_name,
    l.principal,
    l.broker_id,
    l.broker_address,
    l.broker_port,
    l.connection,
    l.topic,
    l.group_id,
    l.count,
    l.answered,
    CASE
        WHEN s.every_ns IS NULL
            THEN l.count * 1e9 / nullif(r.captured_ns, 0)
        -- The first and the last slot may lie in the capture in part only.
        WHEN l.slot_ns + least(s.every_ns, r.last_time_ns - l.slot_ns) > greatest(l.slot_ns, r.first_time_ns)
            THEN l.count * 1e9 / (l.slot_ns + least(s.every_ns, r.last_time_ns - l.slot_ns) - greatest(l.slot_ns, r.first_time_ns))
    END AS rate_per_s,
    l.p50_ns,
    l.p90_ns,
    l.p99_ns,
    l.max_ns,
    -- Only replies tell.
    CASE WHEN l.answered > 0 THEN l.errors END AS errors,
    CASE WHEN l.answered > 0 THEN l.throttled END AS throttled,
    l.unread AS unread_replies,
    l.parts_known,
    l.parts_send_ns, l.parts_queue_ns, l.parts_muted_ns, l.parts_proxy_ns, l.parts_broker_ns, l.parts_network_ns, l.parts_unknown_ns,
    l.parts_receive_ns,
    l.slow_known,
    l.slow_send_ns, l.slow_queue_ns, l.slow_muted_ns, l.slow_proxy_ns, l.slow_broker_ns, l.slow_network_ns, l.slow_unknown_ns,
    l.slow_receive_ns
FROM latency_slices AS l CROSS JOIN settings AS s CROSS JOIN time_range AS r
WHERE l.role = 'client'
ORDER BY l.slot_ns,
    CASE l.reach WHEN 'wait' THEN 2 WHEN 'mixed' THEN 1 ELSE 0 END,
    CASE s.sort
        WHEN 'count' THEN l.count WHEN 'p99' THEN l.p99_ns WHEN 'max' THEN l.max_ns WHEN 'errors' THEN l.errors
        ELSE CAST(l.p99_ns AS DOUBLE) * l.count
    END DESC NULLS LAST,
    l.count DESC, l.api_name, l.kind, l.api_version, l.error_code, l.client_id, l.client_address, l.application, l.client_name, l.principal,
    l.broker_id, l.broker_address, l.broker_port, l.connection, l.topic, l.group_id, l.reach
