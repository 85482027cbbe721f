-- severity: medium
-- rank: 24
-- when: connections having bool_or(is_kafka IS NOT TRUE AND close = 'rst' AND syn_ack_ns IS NULL)
-- says: {broker} refuses connections, {times|time|times} from {clients|address|addresses}
-- do: Nothing listens there: the broker is down, or clients use an old address or port.
-- look: kanalyze connections --broker {broker}
-- explains: connection_storm
-- A SYN answered by a reset, at an endpoint that speaks Kafka in this capture or that a cluster advertises. An advertised name
-- other than an address may stand for any address with its port. A broker that answered afterwards was starting: for information.
WITH refused AS (
    SELECT *
    FROM connections
    WHERE is_kafka IS NOT TRUE AND seen_from = 'syn' AND close = 'rst' AND syn_ack_ns IS NULL
        AND coalesce(client_stream_bytes, 0) + coalesce(broker_stream_bytes, 0) = 0
),
answered AS (
    SELECT broker_address, broker_port, max(first_time_ns) AS last_ns
    FROM all_connections
    WHERE is_kafka AND replies > 0
    GROUP BY broker_address, broker_port
),
known AS (
    SELECT broker_address AS host, broker_port AS port FROM all_connections WHERE is_kafka
    UNION
    SELECT CASE WHEN host LIKE '%:%' OR translate(host, '0123456789.', '') = '' THEN host END AS host, port FROM brokers
)
SELECT
    r.broker_address || ':' || CAST(r.broker_port AS STRING) AS broker,
    count(*) AS times,
    count(DISTINCT r.client_address) AS clients,
    CASE WHEN max(l.last_ns) > max(r.first_time_ns) THEN 'info' ELSE 'medium' END AS severity,
    count(*) AS weight,
    min_by(r.connection, (r.first_time_ns, r.connection)) AS connection,
    min(r.first_time_ns) AS first_time_ns,
    max(r.first_time_ns) AS last_time_ns
FROM refused AS r
LEFT JOIN answered AS l ON l.broker_address = r.broker_address AND l.broker_port = r.broker_port
WHERE EXISTS (SELECT 1 FROM known AS k WHERE k.port = r.broker_port AND (k.host = r.broker_address OR k.host IS NULL))
GROUP BY r.broker_address, r.broker_port
