-- Counts and sums of a duration for each combination of the keys of `request_slices` and each log bucket: rows of parts of a
-- capture can be added, key by key. `n` of the requests have the duration; bucket b: see `latency_histogram`.
SELECT
    slot_ns, role, own_kind, api_name, kind, api_version, error_code, client_id, client_address, application, client_name, principal, broker_id,
    broker_address, broker_port, connection, client_port, group_id, topic, topics,
    CASE WHEN measured_ns > 0 THEN CAST(ceil(64 * ln(measured_ns / 1e9) / ln(2)) AS INT) ELSE -2000 END AS bucket,
    -- A key of the grouping instead of a filter on each sum: the sums below then read few rows.
    parts_known,
    count(*) AS requests,
    count(measured_ns) AS n,
    count(*) FILTER (WHERE has_error) AS errors,
    count(*) FILTER (WHERE throttle_time_ms > 0) AS throttled,
    count(*) FILTER (WHERE is_unread) AS unread,
    sum(throttle_time_ms) AS throttle_time_ms,
    max(throttle_time_ms) AS max_throttle_time_ms,
    sum(request_bytes) AS request_bytes,
    sum(response_bytes) AS response_bytes,
    min(request_time_ns) AS first_time_ns,
    max(request_time_ns) AS last_time_ns,
    min(measured_ns) AS low,
    max(measured_ns) AS high,
    sum(measured_ns) AS measured_ns,
    -- Exact: sums of parts are the sum of all. Beyond a day a square is unknown, as some of them have no sum.
    CAST(sum(CASE WHEN measured_ns BETWEEN 0 AND days(1) THEN CAST(measured_ns AS HUGEINT) * measured_ns END) AS DECIMAL(38, 0))
        AS squares,
    sum(send_ns) AS send_ns,
    sum(queue_ns) AS queue_ns,
    sum(muted_ns) AS muted_ns,
    sum(proxy_ns) AS proxy_ns,
    sum(broker_ns) AS broker_ns,
    sum(network_ns) AS network_ns,
    sum(unknown_ns) AS unknown_ns,
    sum(receive_ns) AS receive_ns
FROM request_slices
GROUP BY ALL
