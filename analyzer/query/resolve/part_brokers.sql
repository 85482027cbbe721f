-- The node id of the broker of each part: the node that its cluster advertises at this address. Advertised host names are not
-- resolved; so else the only node at this port, if the clients of the cluster use one address with this port, and a message listed
-- all nodes: one that registers itself, or that is named as a coordinator, may have others beside it. Else no row.
WITH bodies AS (
    SELECT c.cluster, t.body
    FROM raw_reported AS t JOIN part_clusters AS c ON c.part = t.part
    WHERE c.cluster IS NOT NULL
    GROUP BY c.cluster, t.body
),
nodes AS (
    SELECT b.cluster, f.node_id AS broker_id, f.host, f.port, max(CASE WHEN f.lists_all THEN 1 ELSE 0 END) AS is_listed
    FROM bodies AS b JOIN raw_broker_facts AS f ON f.body = b.body
    WHERE f.node_id >= 0
    GROUP BY b.cluster, f.node_id, f.host, f.port
    UNION ALL
    SELECT cluster, broker_id, host, port, is_listed FROM earlier_nodes
),
by_address AS (
    SELECT cluster, host, port, min(broker_id) AS broker_id
    FROM nodes GROUP BY cluster, host, port HAVING min(broker_id) = max(broker_id)
),
by_port AS (
    SELECT cluster, port, min(broker_id) AS broker_id
    FROM nodes GROUP BY cluster, port HAVING min(broker_id) = max(broker_id) AND max(is_listed) = 1
),
reached AS (
    SELECT cluster, broker_port
    FROM (
        SELECT c.cluster, p.broker_port, p.broker_address FROM parts AS p JOIN part_clusters AS c ON c.part = p.part
        UNION ALL
        SELECT cluster, port, address FROM earlier_clusters WHERE told_by = 'reached'
    ) AS addresses
    GROUP BY cluster, broker_port
    HAVING min(broker_address) = max(broker_address)
)
SELECT p.part, CAST(coalesce(a.broker_id, n.broker_id) AS INTEGER) AS broker_id
FROM parts AS p
JOIN part_clusters AS c ON c.part = p.part
LEFT JOIN by_address AS a ON a.cluster = c.cluster AND a.host = p.broker_address AND a.port = p.broker_port
LEFT JOIN reached AS r ON r.cluster = c.cluster AND r.broker_port = p.broker_port
LEFT JOIN by_port AS n ON n.cluster = c.cluster AND n.port = r.broker_port
WHERE coalesce(a.broker_id, n.broker_id) IS NOT NULL
