-- Raw exchanges with their connection, durations and kind. A duration is null when one of its ends is unknown or the clock ran back.
SELECT
    x.exchange,
    p.connection,
    p.client_address,
    p.client_port,
    p.broker_address,
    p.broker_port,
    CASE WHEN NOT x.token THEN x.api_key END AS api_key,
    CASE WHEN x.api_key IS NOT NULL AND NOT x.token THEN coalesce(x.api_name, CAST(x.api_key AS VARCHAR)) END AS api_name,
    x.api_version,
    x.correlation_id,
    x.client_id,
    CAST(NULL AS VARCHAR) AS principal,
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
    CASE
        WHEN x.token THEN 'sasl_token'
        WHEN x.api_key = 0 THEN
            CASE x.acks
                WHEN 0 THEN 'produce_acks_0'
                WHEN 1 THEN 'produce_acks_1'
                WHEN -1 THEN 'produce_acks_all'
                ELSE 'produce_acks_unknown'
            END
        -- KRaft's own fetches have no session and do not wait for bytes; a follower's have, and do.
        WHEN x.api_key = 1 AND x.replica_id >= 0 AND x.session_epoch = -1 AND x.min_bytes = 0 THEN 'fetch_raft'
        WHEN x.api_key = 1 AND x.replica_id >= 0 THEN 'fetch_follower'
        WHEN x.api_key = 1 OR x.api_key = 78 THEN
            CASE
                WHEN x.error_code <> 0 THEN 'fetch_error'
                WHEN x.throttle_time_ms > 0 AND x.record_bytes = 0 THEN 'fetch_throttled'
                WHEN x.session_epoch = 0 OR (x.session_epoch = -1 AND x.session_id <> 0) THEN 'fetch_session'
                WHEN x.record_bytes = 0 AND x.response_time_ns - x.request_end_ns >= 900000.0 * x.max_wait_ms
                    THEN 'fetch_empty'
                WHEN x.record_bytes = 0 AND x.response_time_ns IS NOT NULL THEN 'fetch_now'
                ELSE 'fetch_unknown'
            END
        WHEN x.api_key = 11 AND coalesce(x.error_code, 0) <> 79 THEN 'join_wait'
        WHEN x.api_key = 14 THEN 'sync_wait'
        -- Spelt out: a list of five would become a join in every question, asked for the kind or not.
        WHEN x.api_key BETWEEN 19 AND 21 OR x.api_key = 43 OR x.api_key = 63 THEN 'wait'
        WHEN x.api_key = 58 THEN 'forwarded'
    END AS kind,
    CASE WHEN x.request_time_ns IS NULL THEN 'none' ELSE x.request_decoded END AS request_decoded,
    CASE WHEN x.response_time_ns IS NULL THEN 'none' ELSE x.response_decoded END AS response_decoded,
    CASE WHEN x.request_end_ns >= x.request_time_ns THEN x.request_end_ns - x.request_time_ns END AS send_ns,
    CASE WHEN x.response_time_ns >= x.request_end_ns THEN x.response_time_ns - x.request_end_ns END AS latency_ns,
    CASE WHEN x.response_end_ns >= x.response_time_ns THEN x.response_end_ns - x.response_time_ns END AS receive_ns,
    CASE WHEN x.response_end_ns >= x.request_time_ns THEN x.response_end_ns - x.request_time_ns END AS total_ns,
    CAST(NULL AS BIGINT) AS service_ns,
    x.throttle_time_ms,
    x.error_code,
    x.error_count,
    x.topics,
    x.partitions,
    x.acks,
    x.max_wait_ms,
    x.min_bytes,
    x.isolation_level,
    x.session_id,
    x.session_epoch,
    x.group_id,
    x.member_id,
    x.transactional_id,
    x.replica_id
FROM placed_exchanges AS x
JOIN parts AS p ON p.part = x.part
WHERE p.is_kafka
