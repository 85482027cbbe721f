-- The cluster and the node that the client of each part means to reach, from its ApiVersions requests: the newest counts.
SELECT
    t.part,
    max_by(f.asked_cluster_id, t.time_ns) FILTER (WHERE f.asked_cluster_id IS NOT NULL) AS asked_cluster_id,
    max_by(f.asked_node_id, t.time_ns) FILTER (WHERE f.asked_node_id IS NOT NULL) AS asked_node_id
FROM raw_reported AS t
JOIN raw_asked_facts AS f ON f.body = t.body
GROUP BY t.part
