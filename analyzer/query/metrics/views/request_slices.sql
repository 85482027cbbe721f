-- One row per request with its durations and the keys that `settings` asks for, the others null; by topic, a row per topic
-- that the request names. `role` is 'client' unless it is
-- known that a broker asks. `measured_ns` is the latency, or what `settings` says. Durations are ns; those in `parts_known` rows add up to the total.
WITH named AS (
    SELECT e.exchange, coalesce(e.topic, e.topic_id) AS topic
    FROM entries AS e CROSS JOIN settings AS s
    WHERE s.by_topic OR s.by_subject
    GROUP BY e.exchange, coalesce(e.topic, e.topic_id)
),
topics AS (
    SELECT n.exchange, n.topic, CAST(1 AS BIGINT) AS topics
    FROM named AS n CROSS JOIN settings AS s
    WHERE s.by_topic
    UNION ALL
    SELECT n.exchange, min(n.topic) AS topic, count(*) AS topics
    FROM named AS n CROSS JOIN settings AS s
    WHERE NOT s.by_topic
    GROUP BY n.exchange
)
SELECT
    e.exchange,
    CASE WHEN s.every_ns > 0 THEN e.request_time_ns - e.request_time_ns % s.every_ns END AS slot_ns,
    CASE WHEN is_client(e.role) THEN 'client' ELSE e.role END AS role,
    -- Known for every request: it says what the request waited for.
    e.kind AS own_kind,
    -- Bare tokens of an old SASL login have no API key.
    CASE WHEN coalesce(s.by_api, true)
        THEN CASE WHEN e.kind = 'sasl_token' THEN 'SASL token' ELSE e.api_name END END AS api_name,
    CASE WHEN coalesce(s.by_api, true) THEN e.kind END AS kind,
    CASE WHEN s.by_version THEN e.api_version END AS api_version,
    CASE WHEN s.by_error THEN e.error_code END AS error_code,
    CASE WHEN s.by_client THEN e.client_id END AS client_id,
    CASE WHEN s.by_client OR s.by_connection THEN e.client_address END AS client_address,
    -- A client that is of no application is one by itself.
    CASE WHEN s.by_app THEN coalesce(a.application, e.client_id) END AS application,
    n.client_name,
    CASE WHEN s.by_principal THEN e.principal END AS principal,
    CASE WHEN s.by_broker THEN e.broker_id END AS broker_id,
    CASE WHEN s.by_broker OR s.by_connection THEN e.broker_address END AS broker_address,
    CASE WHEN s.by_broker OR s.by_connection THEN e.broker_port END AS broker_port,
    CASE WHEN s.by_connection THEN e.connection END AS connection,
    CASE WHEN s.by_connection THEN e.client_port END AS client_port,
    CASE WHEN s.by_group OR s.by_subject THEN e.group_id END AS group_id,
    CASE WHEN s.by_topic THEN t.topic WHEN s.by_subject AND e.group_id IS NULL THEN t.topic END AS topic,
    CASE WHEN s.by_topic OR (s.by_subject AND e.group_id IS NULL) THEN t.topics END AS topics,
    e.request_time_ns,
    e.request_bytes,
    e.response_bytes,
    NOT no_error(e.error_code) AS has_error,
    e.throttle_time_ms,
    -- What the reply says of errors and throttling is then known in part at best.
    e.response_decoded IN ('unsupported', 'malformed', 'trailing') AS is_unread,
    CASE s.measure
        WHEN 'service' THEN e.service_ns
        -- A throttled reply of a broker before 2.0 waited for its quota, and one that does not tell may have.
        WHEN 'broker' THEN CASE WHEN e.throttle_time_ms = 0 THEN e.broker_ns END
        WHEN 'total' THEN e.total_ns
        ELSE e.latency_ns
    END AS measured_ns,
    e.broker_part_ns AS broker_ns,
    e.broker_part_ns IS NOT NULL AND e.send_ns IS NOT NULL AND e.receive_ns IS NOT NULL AS parts_known,
    e.send_ns,
    e.queue_part_ns AS queue_ns,
    e.throttle_part_ns AS muted_ns,
    e.proxy_part_ns AS proxy_ns,
    e.network_ns,
    e.unknown_ns,
    e.receive_ns
FROM exchange_parts AS e
    CROSS JOIN settings AS s
    LEFT JOIN topics AS t ON t.exchange = e.exchange
    LEFT JOIN client_names AS n ON n.connection = e.connection
    LEFT JOIN applications AS a ON a.client_address = e.client_address AND a.client_id = e.client_id
WHERE e.status <> 'orphan_reply'
