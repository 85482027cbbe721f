-- The zones of both ends of each Kafka connection, and its bytes on the wire (IP packets, headers and empty ACKs included).
-- `zone_way` is within, across or unknown. Zones of names (--names) are compared with each other, and racks with each other: a
-- client's rack is client.rack of the consumers at its address, of a follower that of its broker. Where the two ends have zones of
-- different sources, or a client names a rack that no broker has, the zones may be spelled differently: then only a name that some
-- broker's zone has too decides.
WITH racks AS (
    SELECT cluster, broker_id, min(rack) AS rack
    FROM brokers
    WHERE rack <> ''
    GROUP BY cluster, broker_id
    HAVING min(rack) = max(rack)
),
broker_hosts AS (
    SELECT c.broker_address AS address, min(r.rack) AS rack
    FROM connections AS c JOIN racks AS r ON r.cluster = c.cluster AND r.broker_id = c.broker_id
    GROUP BY c.broker_address
    HAVING min(r.rack) = max(r.rack)
),
client_hosts AS (
    SELECT client_address AS address, min(client_rack) AS rack
    FROM connections
    WHERE client_rack <> ''
    GROUP BY client_address
    HAVING min(client_rack) = max(client_rack)
),
followers AS (
    SELECT connection, min(replica_id) AS replica_id
    FROM exchanges
    WHERE replica_id >= 0 AND role = 'follower'
    GROUP BY connection
    HAVING min(replica_id) = max(replica_id)
),
ends AS (
    SELECT
        c.connection,
        c.cluster,
        is_client(c.role) AS of_client,
        c.role,
        c.client_address,
        c.broker_address,
        c.broker_id,
        c.client_wire_bytes AS to_broker_bytes,
        c.broker_wire_bytes AS to_client_bytes,
        c.client_zone AS client_named,
        c.broker_zone AS broker_named,
        CASE
            WHEN is_client(c.role) THEN coalesce(nullif(c.client_rack, ''), h.rack)
            ELSE coalesce(f.rack, b.rack)
        END AS client_rack,
        coalesce(r.rack, o.rack) AS broker_rack
    FROM connections AS c
        LEFT JOIN racks AS r ON r.cluster = c.cluster AND r.broker_id = c.broker_id
        LEFT JOIN broker_hosts AS o ON o.address = c.broker_address
        LEFT JOIN broker_hosts AS b ON b.address = c.client_address
        LEFT JOIN client_hosts AS h ON h.address = c.client_address
        LEFT JOIN followers AS t ON t.connection = c.connection
        LEFT JOIN racks AS f ON f.cluster = c.cluster AND f.broker_id = t.replica_id
    WHERE c.is_kafka
),
spelled AS (
    SELECT rack AS zone FROM racks
    UNION
    SELECT broker_zone FROM connections WHERE broker_zone IS NOT NULL AND is_kafka
),
chosen AS (
    SELECT
        *,
        client_named IS NOT NULL AND broker_named IS NOT NULL AS are_named,
        CASE
            WHEN client_named IS NOT NULL AND broker_named IS NOT NULL THEN client_named
            WHEN client_rack IS NOT NULL AND broker_rack IS NOT NULL THEN client_rack
            ELSE coalesce(client_named, client_rack)
        END AS client_zone,
        CASE
            WHEN client_named IS NOT NULL AND broker_named IS NOT NULL THEN broker_named
            WHEN client_rack IS NOT NULL AND broker_rack IS NOT NULL THEN broker_rack
            ELSE coalesce(broker_named, broker_rack)
        END AS broker_zone
    FROM ends
)
SELECT
    c.connection,
    c.cluster,
    c.of_client,
    c.role,
    c.client_address,
    c.broker_address,
    c.broker_id,
    c.client_zone,
    c.broker_zone,
    CASE
        WHEN c.client_zone = c.broker_zone THEN 'within'
        WHEN c.client_zone <> c.broker_zone AND (c.are_named OR s.zone IS NOT NULL) THEN 'across'
        ELSE 'unknown'
    END AS zone_way,
    c.to_broker_bytes,
    c.to_client_bytes
FROM chosen AS c LEFT JOIN spelled AS s ON s.zone = c.client_zone
