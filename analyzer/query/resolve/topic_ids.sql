-- Topic ids with their names, by cluster, and the times at which messages told them.
WITH told AS (
    SELECT l.cluster, t.body, min(t.time_ns) AS first_time_ns, max(t.time_ns) AS last_time_ns
    FROM raw_reported AS t
    JOIN connection_context AS l ON l.part = t.part
    WHERE l.is_kafka
    GROUP BY l.cluster, t.body
)
SELECT t.cluster, f.topic_id, f.topic, min(t.first_time_ns) AS first_time_ns, max(t.last_time_ns) AS last_time_ns
FROM told AS t
JOIN raw_topic_facts AS f ON f.body = t.body
GROUP BY t.cluster, f.topic_id, f.topic
