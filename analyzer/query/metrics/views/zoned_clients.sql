-- Bytes on the wire of each client by where they went: a row for each address and client id (of a connection that several share, the
-- one with most requests), with its group if it names one alone.
WITH asked AS (
    SELECT connection, client_id, client_address, group_id, count(*) AS requests
    FROM exchanges
    WHERE status <> 'orphan_reply'
    GROUP BY connection, client_id, client_address, group_id
),
whose AS (
    SELECT connection, max_by(client_id, requests) AS client_id FROM asked WHERE client_id IS NOT NULL GROUP BY connection
),
members AS (
    SELECT client_address, client_id, CASE WHEN min(group_id) = max(group_id) THEN min(group_id) END AS group_id
    FROM asked
    GROUP BY client_address, client_id
)
SELECT
    z.client_address,
    w.client_id,
    min(m.group_id) AS group_id,
    CASE WHEN min(z.client_zone) = max(z.client_zone) THEN min(z.client_zone) END AS client_zone,
    count(*) AS connections,
    CAST(coalesce(sum(z.to_broker_bytes + z.to_client_bytes) FILTER (WHERE z.zone_way = 'within'), 0) AS BIGINT) AS within_bytes,
    CAST(coalesce(sum(z.to_broker_bytes) FILTER (WHERE z.zone_way = 'across'), 0) AS BIGINT) AS sent_across_bytes,
    CAST(coalesce(sum(z.to_client_bytes) FILTER (WHERE z.zone_way = 'across'), 0) AS BIGINT) AS received_across_bytes,
    CAST(coalesce(sum(z.to_broker_bytes + z.to_client_bytes) FILTER (WHERE z.zone_way = 'unknown'), 0) AS BIGINT) AS unknown_bytes
FROM zone_ways AS z
    LEFT JOIN whose AS w ON w.connection = z.connection
    LEFT JOIN members AS m ON m.client_address = z.client_address AND m.client_id IS NOT DISTINCT FROM w.client_id
WHERE z.of_client
GROUP BY z.client_address, w.client_id
