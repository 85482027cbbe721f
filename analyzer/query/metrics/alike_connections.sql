-- How did the Kafka connections fare, those that are alike in one row? Alike: the same client, host, broker, login, count of requests,
-- window scales, alert and end. `connections` is how many; `connection` and `client_port` are null where it is several. `life_ns`,
-- `in_flight` and `idle_ns` are the greatest, bytes, packets and `held_small` the sums, `rtt_ns` the least. `requests`, `unanswered`
-- and `failed_logins` are of each. At most 1,000 rows of `total_rows`, the longest-lived first.
WITH lines AS (
    SELECT
        *,
        forwarded_from IS NOT NULL AS is_forwarded,
        coalesce(idle_ns >= s(60), false) AS is_idle
    FROM connection_lines
)
SELECT
    client_id,
    application,
    principal,
    claimed_user,
    sasl_mechanism,
    role,
    cluster,
    client_address,
    broker_address,
    broker_port,
    client_host,
    client_pod,
    client_namespace,
    client_workload,
    client_zone,
    client_rack,
    broker_host,
    broker_pod,
    broker_zone,
    is_forwarded,
    seen_from,
    close,
    closed_by,
    is_idle,
    requests,
    unanswered,
    failed_logins,
    login_refusal,
    token_expiry_time_ns,
    without_handshake,
    client_wscale,
    broker_wscale,
    tls_alert,
    tls_alert_from,
    count(*) AS connections,
    CASE WHEN count(*) = 1 THEN min(connection) END AS connection,
    CASE WHEN count(*) = 1 THEN min(client_port) END AS client_port,
    min(first_time_ns) AS first_time_ns,
    max(first_time_ns) AS last_begin_time_ns,
    max(life_ns) AS life_ns,
    max(in_flight) AS in_flight,
    max(idle_ns) AS idle_ns,
    min(rtt_ns) AS rtt_ns,
    CAST(sum(client_bytes) AS BIGINT) AS client_bytes,
    CAST(sum(broker_bytes) AS BIGINT) AS broker_bytes,
    CAST(sum(client_held_small + broker_held_small) AS BIGINT) AS held_small,
    CAST(sum(client_retransmitted + broker_retransmitted) AS BIGINT) AS retransmitted,
    CAST(sum(client_packets + broker_packets) AS BIGINT) AS packets,
    count(*) OVER () AS total_rows
FROM lines
GROUP BY
    client_id, application, principal, claimed_user, sasl_mechanism, role, cluster, client_address, broker_address, broker_port,
    client_host, client_pod, client_namespace, client_workload, client_zone, client_rack, broker_host, broker_pod, broker_zone,
    is_forwarded, seen_from, close, closed_by, is_idle, requests, unanswered, failed_logins, login_refusal, token_expiry_time_ns,
    without_handshake, client_wscale, broker_wscale, tls_alert, tls_alert_from
ORDER BY life_ns DESC, first_time_ns, client_id, client_address, broker_address, broker_port, requests
LIMIT 1000
