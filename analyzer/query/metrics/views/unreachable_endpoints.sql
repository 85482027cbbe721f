-- Which addresses are never reached? One row per address and port.
-- Attempts to connect that all come to nothing, for as long as a client may be stuck, at an address to which no connection of this
-- capture ever led. What it has to do with Kafka: the port is one on which Kafka is spoken or advertised here, or Kafka's usual one.
WITH failed AS (
    SELECT s.*
    FROM connections_seen AS s JOIN connections AS c ON c.connection = s.connection
    WHERE s.failed IS NOT NULL
),
reached AS (
    SELECT broker_address, broker_port
    FROM all_connections
    WHERE syn_ack_ns IS NOT NULL OR client_stream_bytes + broker_stream_bytes > 0
    GROUP BY broker_address, broker_port
),
ports AS (
    SELECT broker_port AS port FROM all_connections WHERE is_kafka
    UNION
    SELECT port FROM brokers
)
SELECT
    f.broker_address || ':' || CAST(f.broker_port AS STRING) AS broker,
    count(*) AS times,
    CASE WHEN min(f.client_address) = max(f.client_address) THEN min(f.client_address) END AS one_client,
    CASE WHEN min(f.client_address) = max(f.client_address) THEN min(f.client_address) END AS client_address,
    nullif(count(DISTINCT f.client_address), 1) AS several,
    max(f.first_time_ns) - min(f.first_time_ns) AS lasted_ns,
    CASE
        WHEN count(*) = count(*) FILTER (WHERE f.failed = 'none') THEN 'none of them answered'
        WHEN count(*) = count(*) FILTER (WHERE f.failed = 'reset') THEN 'all of them refused'
        ELSE 'some of them refused, the others not answered'
    END AS answer,
    count(*) AS weight,
    min_by(f.connection, (f.first_time_ns, f.connection)) AS connection,
    min(f.first_time_ns) AS first_time_ns,
    max(f.first_time_ns) AS last_time_ns
FROM failed AS f
LEFT JOIN reached AS r ON r.broker_address = f.broker_address AND r.broker_port = f.broker_port
WHERE r.broker_address IS NULL AND (f.broker_port IN (SELECT port FROM ports) OR f.broker_port BETWEEN 9092 AND 9099)
GROUP BY f.broker_address, f.broker_port
HAVING count(*) >= impact('refusals') AND max(f.first_time_ns) - min(f.first_time_ns) >= impact('stuck_ns')
