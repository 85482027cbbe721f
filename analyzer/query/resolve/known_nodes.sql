-- The nodes that all captures so far named, for those that follow (`earlier_nodes`).
SELECT
    cluster,
    CAST(broker_id AS BIGINT) AS broker_id,
    host,
    CAST(port AS BIGINT) AS port,
    CAST(max(is_listed) AS INTEGER) AS is_listed
FROM (
    SELECT c.cluster, f.node_id AS broker_id, f.host, f.port, CASE WHEN f.lists_all THEN 1 ELSE 0 END AS is_listed
    FROM raw_reported AS t
    JOIN part_clusters AS c ON c.part = t.part
    JOIN raw_broker_facts AS f ON f.body = t.body
    WHERE c.cluster IS NOT NULL AND f.node_id >= 0
    UNION ALL
    SELECT cluster, broker_id, host, port, is_listed FROM earlier_nodes
) AS nodes
GROUP BY cluster, broker_id, host, port
