-- Raw exchanges with their connection, durations and kind. A duration is null when one of its ends is unknown or the clock
-- ran back. The throttle time of a broker that is not known to keep connections mute leaves the service time unknown.
SELECT
    x.exchange,
    l.connection,
    l.client_address,
    l.client_port,
    l.broker_address,
    l.broker_port,
    CASE WHEN NOT x.token THEN x.api_key END AS api_key,
    CASE WHEN x.api_key IS NOT NULL AND NOT x.token THEN coalesce(x.api_name, CAST(x.api_key AS STRING)) END AS api_name,
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
    CASE
        WHEN x.token THEN 'sasl_token'
        WHEN x.api_key = 0 AND x.status = 'no_reply_expected' THEN 'produce_acks_0'
        WHEN x.api_key = 0 THEN
            CASE x.acks
                WHEN 0 THEN 'produce_acks_0'
                WHEN 1 THEN 'produce_acks_1'
                WHEN -1 THEN 'produce_acks_all'
                ELSE 'produce_acks_unknown'
            END
        -- KRaft's own fetches have no session and do not wait for bytes; a follower's have, and do.
        WHEN x.api_key = 1 AND (f.raft OR (x.replica_id >= 0 AND x.session_epoch = -1 AND x.min_bytes = 0))
            THEN 'fetch_raft'
        WHEN x.api_key = 1 AND x.replica_id >= 0 THEN 'fetch_follower'
        WHEN x.api_key = 1 OR x.api_key = 78 THEN
            CASE
                WHEN f.redirected THEN 'fetch_redirect'
                WHEN x.error_code BETWEEN 70 AND 71 OR x.error_code = 106 OR x.error_code BETWEEN 122 AND 123
                    THEN 'fetch_session'
                WHEN x.error_code <> 0 THEN 'fetch_error'
                WHEN x.throttle_time_ms > 0 AND x.record_bytes = 0 THEN 'fetch_throttled'
                -- Epoch 0 opens a session when the reply gives it an id; -1 closes the one it names.
                WHEN x.session_epoch <= 0 AND x.session_id <> 0 THEN 'fetch_session'
                -- Whether an empty reply came late or early nobody can tell who did not read all of it, or not how long it
                -- might wait.
                WHEN x.record_bytes = 0 AND x.response_decoded = 'full'
                    AND x.response_time_ns - x.request_end_ns >= 900000.0 * x.max_wait_ms THEN 'fetch_empty'
                WHEN x.record_bytes = 0 AND x.response_decoded = 'full'
                    AND x.response_time_ns - x.request_end_ns < 900000.0 * x.max_wait_ms THEN 'fetch_now'
                ELSE coalesce(f.state, 'fetch_unknown')
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
    CASE
        WHEN x.queue_ns IS NULL OR (x.muted_ns > 0 AND l.mutes IS NULL) THEN NULL
        WHEN x.muted_ns > 0 AND l.mutes THEN x.response_time_ns - x.request_end_ns - x.queue_ns - x.muted_ns
        WHEN x.queue_ns > 0 THEN x.response_time_ns - x.request_end_ns - x.queue_ns
        -- Only where the wait began with the request does the way to the broker and back lie in it.
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
    v.inner_api_key,
    v.inner_client_id
FROM placed_exchanges AS x
JOIN links AS l ON l.part = x.part
LEFT JOIN fetch_states AS f ON f.exchange = x.exchange
-- Empty in nearly every capture, and then no join at all.
LEFT JOIN raw_envelopes AS v ON v.exchange = x.exchange
WHERE l.is_kafka
