-- Who is in each group, and what does each member hold? One row per member: the generation or epoch that it was told last, and the
-- partitions of its last assignment (null: none told). `last_time_ns` is that of its last step, heartbeat or commit; of a member that
-- left (`gone`) that of its leave.
WITH steps AS (
    SELECT
        cluster,
        group_id,
        -- A static member has a new member id each time it comes back, and may be removed without one.
        CASE WHEN instance_id IS NULL THEN member_id ELSE concat('instance ', instance_id) END AS identity,
        max_by(member_id, time_ns) FILTER (WHERE member_id <> '') AS member_id,
        max(group_type) AS group_type,
        max_by(client_id, time_ns) FILTER (WHERE event <> 'leave' AND client_id IS NOT NULL) AS client_id,
        max_by(client_address, time_ns) FILTER (WHERE event <> 'leave') AS client_address,
        max(instance_id) AS instance_id,
        count(*) FILTER (WHERE event = 'join' AND no_error(error_code)) AS joins,
        max(coalesce(generation, sent_generation)) AS generation,
        max_by(event, time_ns) = 'leave' AS gone,
        min(begin_ns) AS first_time_ns,
        max(time_ns) AS last_time_ns
    FROM group_news
    WHERE coalesce(instance_id, member_id, '') <> '' AND event <> 'commit'
    GROUP BY cluster, group_id, CASE WHEN instance_id IS NULL THEN member_id ELSE concat('instance ', instance_id) END
),
tellings AS (
    SELECT group_id, member_id, exchange, max(time_ns) AS time_ns, count(*) AS partitions,
        count(DISTINCT coalesce(topic, topic_id)) AS topics
    FROM all_assignments
    GROUP BY group_id, member_id, exchange
),
-- Heartbeats that went well, and commits, are no steps.
heard AS (
    SELECT group_id, member_id, max(coalesce(response_end_ns, request_end_ns)) AS time_ns
    FROM exchanges
    WHERE api_key IN (api('OffsetCommit', 'Heartbeat', 'TxnOffsetCommit')) AND member_id <> ''
    GROUP BY group_id, member_id
),
held AS (
    SELECT group_id, member_id, max_by(partitions, time_ns) AS partitions, max_by(topics, time_ns) AS topics
    FROM tellings
    GROUP BY group_id, member_id
)
SELECT
    s.cluster, s.group_id, s.group_type, s.client_id, s.client_address, s.member_id, s.instance_id, s.generation, s.joins,
    h.partitions, h.topics, s.gone, s.first_time_ns,
    CASE WHEN s.gone THEN s.last_time_ns ELSE greatest(s.last_time_ns, coalesce(l.time_ns, s.last_time_ns)) END AS last_time_ns
FROM steps AS s
LEFT JOIN held AS h ON h.group_id = s.group_id AND h.member_id = s.member_id
LEFT JOIN heard AS l ON l.group_id = s.group_id AND l.member_id = s.member_id
ORDER BY s.group_id, s.first_time_ns, s.member_id, s.cluster
