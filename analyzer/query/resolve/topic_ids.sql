-- Topic ids with their names, by cluster, where their replicas were last said to be, and the times at which messages
-- told them.
WITH told AS (
    SELECT l.cluster, t.body, min(t.time_ns) AS first_time_ns, max(t.time_ns) AS last_time_ns
    FROM raw_reported AS t
    JOIN connection_context AS l ON l.part = t.part
    WHERE l.is_kafka
    GROUP BY l.cluster, t.body
)
SELECT
    t.cluster,
    f.topic_id,
    f.topic,
    max_by(f.racks, (t.last_time_ns, f.racks, f.whole_racks)) AS racks,
    max_by(f.whole_racks, (t.last_time_ns, f.racks, f.whole_racks)) AS whole_racks,
    min(t.first_time_ns) AS first_time_ns,
    max(t.last_time_ns) AS last_time_ns
FROM told AS t
JOIN raw_topic_facts AS f ON f.body = t.body
GROUP BY t.cluster, f.topic_id, f.topic
