-- Share groups that are given records again and again: one row a group and topic. Once or twice more is how work of a member that went
-- goes to another one. Medium where ten records are given for the fourth time: one may be what code cannot process.
SELECT
    g.group_id,
    max(t.topic) AS topic,
    max(g.delivery_count) AS most,
    CASE WHEN sum(g.redelivered) FILTER (WHERE g.delivery_count >= 4) >= 10 THEN 'medium' ELSE 'info' END AS severity,
    count(*) AS weight,
    max_by(g.exchange, (g.delivery_count, g.exchange)) AS evidence_most,
    min(g.time_ns) AS first_time_ns,
    max(g.time_ns) AS last_time_ns
FROM group_news AS g
LEFT JOIN (SELECT topic_id, max(topic) AS topic FROM topic_ids GROUP BY topic_id) AS t ON t.topic_id = g.topic_id
WHERE g.event = 'redelivery'
GROUP BY g.cluster, g.group_id, g.topic_id
HAVING max(g.delivery_count) >= 4
