-- Names of topic ids, as messages tell them. Of an id that no message names, as where a capture begins late: that of the topic into which
-- batches were written, by its name, before the same broker gave the same ones by the id; two at least, and none of another name.
WITH marks AS MATERIALIZED (
    SELECT m.*, l.broker_address, l.broker_port FROM batch_marks AS m JOIN connection_context AS l ON l.part = m.part
)
SELECT topic_id, topic FROM told_names
UNION ALL
SELECT g.topic_id, min(w.topic_name) AS topic
FROM marks AS g
JOIN marks AS w
    ON w.crc = g.crc AND w.partition = g.partition AND w.broker_address = g.broker_address AND w.broker_port = g.broker_port
    AND w.time_ns <= g.time_ns
WHERE g.topic_id IS NOT NULL AND g.topic_id NOT IN (SELECT topic_id FROM told_names) AND w.topic_name IS NOT NULL
GROUP BY g.topic_id
HAVING count(*) >= 2 AND min(w.topic_name) = max(w.topic_name)
