-- severity: info
-- rank: 61
-- when: connections having bool_or(client_zone IS NOT NULL OR client_rack <> '') AND sum(client_wire_bytes + broker_wire_bytes) >= mb(100)
-- says: {across_share} of the bytes between clients and brokers whose zones are known cross zones: {across_bytes}
-- do: See whose they are. Consumers read in their own zone with client.rack; producers write to leaders, wherever these are.
-- look: kanalyze zones
-- delays: nobody
-- From 100 MB on; what brokers send each other is meant to cross.
SELECT
    CAST(sum(to_broker_bytes + to_client_bytes) FILTER (WHERE zone_way = 'across') AS DOUBLE)
        / sum(to_broker_bytes + to_client_bytes) AS across_share,
    CAST(sum(to_broker_bytes + to_client_bytes) FILTER (WHERE zone_way = 'across') AS BIGINT) AS across_bytes,
    CAST(sum(to_broker_bytes + to_client_bytes) FILTER (WHERE zone_way = 'across') AS BIGINT) AS weight,
    max_by(connection, to_broker_bytes + to_client_bytes) FILTER (WHERE zone_way = 'across') AS connection
FROM zone_ways
WHERE of_client AND zone_way <> 'unknown'
HAVING sum(to_broker_bytes + to_client_bytes) FILTER (WHERE zone_way = 'across') >= mb(100)
    AND 3 * sum(to_broker_bytes + to_client_bytes) FILTER (WHERE zone_way = 'across') >= sum(to_broker_bytes + to_client_bytes)
