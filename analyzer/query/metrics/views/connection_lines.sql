-- How each Kafka connection fared, one row a connection. Bytes are payload on the wire, `retransmitted_share` is of packets (0 to 1),
-- `in_flight` the most requests that waited for a reply at once, `idle_ns` from its last message to its end (null while it is open),
-- `unanswered` what it left without a reply when it closed.
WITH steps AS (
    SELECT connection, request_time_ns AS time_ns, 1 AS step
    FROM exchanges
    WHERE request_time_ns IS NOT NULL AND status <> 'no_reply_expected'
    UNION ALL
    SELECT connection, response_time_ns AS time_ns, -1 AS step
    FROM exchanges
    WHERE request_time_ns IS NOT NULL AND response_time_ns IS NOT NULL
),
depth AS (
    SELECT
        connection,
        sum(step) OVER (PARTITION BY connection ORDER BY time_ns, step ROWS UNBOUNDED PRECEDING) AS waiting
    FROM steps
),
flights AS (
    SELECT connection, CAST(max(waiting) AS BIGINT) AS in_flight FROM depth GROUP BY connection
),
traffic AS (
    SELECT
        connection,
        max(client_id) AS client_id,
        count(*) FILTER (WHERE status <> 'orphan_reply') AS requests,
        count(*) FILTER (WHERE status IN ('closed', 'abandoned')) AS unanswered,
        count(*) FILTER (WHERE status = 'pending') AS pending,
        count(*) FILTER (WHERE NOT no_error(error_code)) AS errors,
        count(*) FILTER (WHERE throttle_time_ms > 0) AS throttled,
        max(greatest(coalesce(request_end_ns, request_time_ns, 0), coalesce(response_end_ns, response_time_ns, 0)))
            AS last_message_ns
    FROM exchanges
    GROUP BY connection
),
tries AS (
    SELECT
        connection,
        count(*) FILTER (WHERE outcome = 'failed') AS failed_logins,
        count(*) FILTER (WHERE again) AS logins_again,
        max(CASE WHEN outcome = 'failed' THEN refusal END) AS login_refusal,
        max(CASE WHEN outcome = 'failed' THEN token_expiry_time_ns END) AS token_expiry_time_ns,
        bool_or(outcome = 'failed' AND handshake = false) AS is_bare
    FROM logins
    GROUP BY connection
)
SELECT
    c.connection,
    t.client_id,
    a.application,
    c.principal,
    c.claimed_user,
    c.sasl_mechanism,
    c.security,
    c.role,
    c.cluster,
    c.client_address,
    c.client_port,
    c.broker_address,
    c.broker_port,
    c.broker_id,
    c.client_host,
    c.client_pod,
    c.client_namespace,
    c.client_workload,
    c.client_zone,
    c.client_rack,
    c.broker_host,
    c.broker_pod,
    c.broker_zone,
    c.forwarded_from,
    c.first_time_ns,
    c.last_time_ns,
    c.last_time_ns - c.first_time_ns AS life_ns,
    c.seen_from,
    c.close,
    c.closed_by,
    c.close_time_ns,
    CASE WHEN c.close <> 'none' THEN c.last_time_ns - t.last_message_ns END AS idle_ns,
    coalesce(t.requests, 0) AS requests,
    coalesce(f.in_flight, 0) AS in_flight,
    coalesce(t.unanswered, 0) AS unanswered,
    coalesce(t.pending, 0) AS pending,
    coalesce(t.errors, 0) AS errors,
    coalesce(t.throttled, 0) AS throttled,
    coalesce(l.failed_logins, 0) AS failed_logins,
    coalesce(l.logins_again, 0) AS logins_again,
    l.login_refusal,
    l.token_expiry_time_ns,
    coalesce(l.is_bare, false) AS without_handshake,
    c.client_bytes,
    c.broker_bytes,
    c.client_wire_bytes,
    c.broker_wire_bytes,
    c.rtt_ns,
    c.syn_ack_ns AS to_broker_ns,
    c.ack_ns AS to_client_ns,
    c.client_packets,
    c.broker_packets,
    c.client_retransmitted,
    c.broker_retransmitted,
    CASE WHEN c.client_packets + c.broker_packets > 0
        THEN CAST(c.client_retransmitted + c.broker_retransmitted AS DOUBLE) / (c.client_packets + c.broker_packets)
    END AS retransmitted_share,
    c.client_zero_windows,
    c.broker_zero_windows,
    c.client_gaps + c.broker_gaps AS gaps,
    c.client_gap_bytes + c.broker_gap_bytes AS gap_bytes,
    c.client_wscale,
    c.broker_wscale,
    c.client_held_small,
    c.broker_held_small,
    c.tls_alert,
    c.tls_alert_from
FROM connections AS c
    LEFT JOIN traffic AS t ON t.connection = c.connection
    LEFT JOIN flights AS f ON f.connection = c.connection
    LEFT JOIN tries AS l ON l.connection = c.connection
    LEFT JOIN applications AS a ON a.client_address = c.client_address AND a.client_id = t.client_id
WHERE c.is_kafka
