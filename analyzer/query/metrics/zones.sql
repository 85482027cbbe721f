-- Which bytes cross zones? One row for each pair of zones and direction, of clients and of brokers among each other: `bytes` are
-- those of IP packets on the wire of Kafka's connections, headers, ACKs and retransmissions included; `zone_way` is within,
-- across or unknown (see view `zone_ways`). `cost` is that of what crosses, by the price of a GB (--price); null without one.
WITH flows AS (
    SELECT connection, of_client, zone_way, client_zone AS from_zone, broker_zone AS to_zone, 'to_broker' AS way, to_broker_bytes AS bytes
    FROM zone_ways
    UNION ALL
    SELECT connection, of_client, zone_way, broker_zone, client_zone, 'to_client', to_client_bytes
    FROM zone_ways
)
SELECT
    NOT f.of_client AS between_brokers,
    f.zone_way,
    f.from_zone,
    f.to_zone,
    f.way,
    count(*) AS connections,
    CAST(sum(f.bytes) AS BIGINT) AS bytes,
    CAST(sum(f.bytes) AS DOUBLE) / nullif(sum(sum(f.bytes)) OVER (), 0) AS share,
    CASE WHEN f.zone_way = 'across' THEN sum(f.bytes) * max(s.price) / 1e9 END AS cost
FROM flows AS f CROSS JOIN settings AS s
GROUP BY f.of_client, f.zone_way, f.from_zone, f.to_zone, f.way
ORDER BY f.zone_way = 'within', f.zone_way = 'unknown', bytes DESC, between_brokers, f.from_zone, f.to_zone, f.way
