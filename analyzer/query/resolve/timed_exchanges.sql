-- Exchanges without the durations that are the difference of two of their times (`exchanges`). After a throttle time of a broker of
-- which it is not known whether it mutes, the service time is unknown.
SELECT
    x.exchange,
    x.connection,
    x.client_address,
    x.client_port,
    x.broker_address,
    x.broker_port,
    x.api_key,
    x.api_name,
    x.api_version,
    x.correlation_id,
    x.client_id,
    CASE WHEN x.request_time_ns >= x.principal_from_ns THEN x.principal END AS principal,
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
    CASE
        WHEN x.queue_ns IS NULL OR (x.muted_ns > 0 AND x.mutes IS NULL) THEN NULL
        WHEN x.muted_ns > 0 AND x.mutes THEN x.response_time_ns - x.request_end_ns - x.queue_ns - x.muted_ns
        WHEN x.queue_ns > 0 THEN x.response_time_ns - x.request_end_ns - x.queue_ns
        -- The time to the broker and back is part of the wait only if the wait began with the request.
        ELSE greatest(x.response_time_ns - x.request_end_ns - x.way_ns, 0)
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
    x.role,
    x.broker_id,
    x.generation_id,
    x.timeout_ms,
    x.record_bytes,
    x.queue_ns,
    CASE WHEN x.mutes OR x.muted_ns = 0 THEN x.muted_ns WHEN NOT x.mutes THEN 0 END AS muted_ns,
    x.inner_api_key,
    x.inner_client_id,
    x.broker_min_ns,
    x.broker_max_ns,
    CASE
        WHEN x.broker_evidence <> 'held' AND x.broker_evidence <> 'large' AND x.broker_evidence <> 'wide'
            AND x.broker_evidence <> 'no_timestamps' AND x.broker_evidence <> 'clock'
        THEN x.broker_mid_ns
    END AS broker_ns,
    x.broker_evidence,
    CASE WHEN x.mutes OR x.muted_ns = 0 THEN x.muted_ns WHEN NOT x.mutes THEN 0 END + least(x.kept_ns, x.response_time_ns - x.request_end_ns)
        AS throttle_ns,
    x.there_ns,
    x.back_ns
FROM exchanges_with_status AS x
