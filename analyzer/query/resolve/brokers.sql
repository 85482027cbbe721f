-- Nodes that messages named, one row for each address that they advertise. Which of them is the controller is known only
-- where a message named one: then the others of its cluster are not.
WITH told AS (
    SELECT l.cluster, t.body, min(t.time_ns) AS first_time_ns, max(t.time_ns) AS last_time_ns
    FROM raw_reported AS t
    JOIN connection_context AS l ON l.part = t.part
    WHERE l.is_kafka
    GROUP BY l.cluster, t.body
),
controllers AS (
    SELECT t.cluster, f.controller_id
    FROM told AS t
    JOIN raw_cluster_facts AS f ON f.body = t.body
    WHERE f.controller_id >= 0
    GROUP BY t.cluster, f.controller_id
),
clusters AS (
    SELECT cluster, count(*) AS controllers FROM controllers GROUP BY cluster
)
SELECT
    t.cluster,
    f.node_id AS broker_id,
    f.host,
    f.port,
    max(f.rack) AS rack,
    CASE WHEN max(n.controllers) > 0 THEN max(c.controller_id) IS NOT NULL END AS controller,
    min(t.first_time_ns) AS first_time_ns,
    max(t.last_time_ns) AS last_time_ns
FROM told AS t
JOIN raw_broker_facts AS f ON f.body = t.body
LEFT JOIN controllers AS c
    ON c.controller_id = f.node_id AND (c.cluster = t.cluster OR (c.cluster IS NULL AND t.cluster IS NULL))
LEFT JOIN clusters AS n ON n.cluster = t.cluster OR (n.cluster IS NULL AND t.cluster IS NULL)
GROUP BY t.cluster, f.node_id, f.host, f.port
