-- Partitions that were assigned to members. A member's own reply counts first. The request of a classic group's leader has the
-- assignments of members whose own replies are not in the capture; their client is known from other messages of theirs.
WITH told AS (
    SELECT
        a.*,
        l.connection,
        l.client_address,
        l.cluster,
        x.client_id,
        x.time_ns
    FROM raw_assigned AS a
    JOIN fact_times AS x ON x.exchange = a.exchange AND x.part = a.part
    JOIN connection_context AS l ON l.part = a.part
    WHERE l.is_kafka
)
SELECT
    t.exchange,
    t.connection,
    t.cluster,
    t.time_ns,
    t.group_id,
    t.group_type,
    t.member_id,
    CASE WHEN t.told_by_leader THEN m.client_id ELSE t.client_id END AS client_id,
    CASE WHEN t.told_by_leader THEN m.client_address ELSE t.client_address END AS client_address,
    t.generation,
    coalesce(t.topic, n.topic) AS topic,
    t.topic_id,
    t.partition
FROM told AS t
LEFT JOIN own_assignments AS o
    ON o.cluster = coalesce(t.cluster, '') AND o.group_id = t.group_id AND o.member_id = t.member_id
    AND o.generation = t.generation
LEFT JOIN group_clients AS m
    ON m.cluster = coalesce(t.cluster, '') AND m.group_id = t.group_id AND m.member_id = t.member_id
LEFT JOIN topic_names AS n ON n.topic_id = t.topic_id
WHERE NOT t.told_by_leader OR o.member_id IS NULL
