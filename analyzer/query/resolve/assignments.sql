-- Partitions that were assigned to members. A member's own reply counts first. The request of a classic group's leader has the
-- assignments of members whose own replies are not in the capture; their client is known from other messages of theirs.
WITH told AS (
    SELECT
        a.*,
        p.connection,
        p.client_address,
        c.cluster,
        x.client_id,
        coalesce(x.response_end_ns, x.request_end_ns) AS time_ns
    FROM raw_assigned AS a
    JOIN raw_exchanges AS x ON x.exchange = a.exchange
    JOIN parts AS p ON p.part = a.part
    LEFT JOIN all_connections AS c ON c.connection = p.connection
    WHERE p.is_kafka
),
own AS (
    SELECT coalesce(cluster, '') AS cluster, group_id, member_id, generation
    FROM (
        SELECT c.cluster, s.group_id, s.member_id, s.generation
        FROM raw_group_steps AS s
        JOIN parts AS p ON p.part = s.part
        LEFT JOIN all_connections AS c ON c.connection = p.connection
        WHERE s.event = 'sync' AND s.assigned_partitions IS NOT NULL AND p.is_kafka
    ) AS syncs
    GROUP BY coalesce(cluster, ''), group_id, member_id, generation
),
members AS (
    SELECT
        coalesce(c.cluster, '') AS cluster,
        s.group_id,
        s.member_id,
        min(x.client_id) AS client_id,
        min(p.client_address) AS client_address
    FROM raw_group_steps AS s
    JOIN raw_exchanges AS x ON x.exchange = s.exchange
    JOIN parts AS p ON p.part = s.part
    LEFT JOIN all_connections AS c ON c.connection = p.connection
    WHERE p.is_kafka AND s.member_id IS NOT NULL
    GROUP BY coalesce(c.cluster, ''), s.group_id, s.member_id
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
LEFT JOIN own AS o
    ON o.cluster = coalesce(t.cluster, '') AND o.group_id = t.group_id AND o.member_id = t.member_id
    AND o.generation = t.generation
LEFT JOIN members AS m
    ON m.cluster = coalesce(t.cluster, '') AND m.group_id = t.group_id AND m.member_id = t.member_id
LEFT JOIN topic_names AS n ON n.topic_id = t.topic_id
WHERE NOT t.told_by_leader OR o.member_id IS NULL
