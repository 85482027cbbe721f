-- Share groups that are given records again and again: one row a group and topic. Once or twice more is how work of a member that went
-- goes to another one. Medium where ten records are given for the fourth time: one may be what code cannot process.
SELECT
    group_id,
    max(topic) AS topic,
    max(delivery_count) AS most,
    CASE WHEN sum(redelivered) FILTER (WHERE delivery_count >= 4) >= 10 THEN 'medium' ELSE 'info' END AS severity,
    count(*) AS weight,
    max_by(exchange, (delivery_count, exchange)) AS evidence_most,
    min(time_ns) AS first_time_ns,
    max(time_ns) AS last_time_ns
FROM group_news
WHERE event = 'redelivery'
GROUP BY cluster, group_id, topic_id
HAVING max(delivery_count) >= 4
