-- Raw exchanges with their connection, durations and wait kind. A duration is null when one of its ends is unknown or the clock
-- ran back. After a throttle time of a broker of which it is not known whether it mutes, the service time is unknown.
SELECT
    x.exchange,
    l.connection,
    l.client_address,
    l.client_port,
    l.broker_address,
    l.broker_port,
    x.api_key,
    x.api_name,
    x.api_version,
    x.correlation_id,
    x.client_id,
    CASE WHEN x.request_time_ns >= l.principal_from_ns THEN l.principal END AS principal,
    x.request_time_ns,
    x.request_end_ns,
    x.response_time_ns,
    x.response_end_ns,
    x.request_bytes,
    x.response_bytes,
    x.request_file,
    x.request_packet,
    x.response_file,
    x.response_packet,
    x.status,
    x.kind,
    x.request_decoded,
    x.response_decoded,
    CASE WHEN x.request_end_ns >= x.request_time_ns THEN x.request_end_ns - x.request_time_ns END AS send_ns,
    CASE WHEN x.response_time_ns >= x.request_end_ns THEN x.response_time_ns - x.request_end_ns END AS latency_ns,
    CASE WHEN x.response_end_ns >= x.response_time_ns THEN x.response_end_ns - x.response_time_ns END AS receive_ns,
    CASE WHEN x.response_end_ns >= x.request_time_ns THEN x.response_end_ns - x.request_time_ns END AS total_ns,
    CASE
        WHEN x.queue_ns IS NULL OR (x.muted_ns > 0 AND l.mutes IS NULL) THEN NULL
        WHEN x.muted_ns > 0 AND l.mutes THEN x.response_time_ns - x.request_end_ns - x.queue_ns - x.muted_ns
        WHEN x.queue_ns > 0 THEN x.response_time_ns - x.request_end_ns - x.queue_ns
        -- The time to the broker and back is part of the wait only if the wait began with the request.
        ELSE greatest(x.response_time_ns - x.request_end_ns - l.way_ns, 0)
    END AS service_ns,
    x.throttle_time_ms,
    x.error_code,
    x.error_count,
    x.topics,
    x.partitions,
    x.acks,
    x.status = 'no_reply_expected' AND x.acks IS NULL AS acks_inferred,
    x.max_wait_ms,
    x.min_bytes,
    x.isolation_level,
    x.session_id,
    x.session_epoch,
    x.group_id,
    x.member_id,
    x.transactional_id,
    x.replica_id,
    l.role,
    l.broker_id,
    x.generation_id,
    x.timeout_ms,
    x.record_bytes,
    x.queue_ns,
    CASE WHEN l.mutes OR x.muted_ns = 0 THEN x.muted_ns WHEN NOT l.mutes THEN 0 END AS muted_ns,
    x.inner_api_key,
    x.inner_client_id
FROM exchanges_with_kind AS x
JOIN connection_context AS l ON l.part = x.part
WHERE l.is_kafka
