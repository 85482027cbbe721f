-- What happened in each group, step by step? One row per join, sync, leave and heartbeat that says something new, per topic and number
-- of deliveries of records that a ShareFetch got again, and per commit that failed, in order of time (the reply's last byte, ns).
-- `generation` is the member epoch in the newer group types.
SELECT
    g.time_ns, g.begin_ns, g.cluster, g.group_id, g.group_type, g.event, g.client_id, g.client_address, g.member_id, g.instance_id,
    g.generation, g.sent_generation, g.leader IS NOT NULL AND g.leader = g.member_id AS is_leader, g.members, g.protocol, g.reason,
    g.topics, g.assigned_partitions, g.error_code, g.group_status, coalesce(t.topic, g.topic_id) AS given_topic, g.delivery_count,
    g.redelivered, g.exchange
FROM group_news AS g
LEFT JOIN (SELECT topic_id, max(topic) AS topic FROM topic_ids GROUP BY topic_id) AS t ON t.topic_id = g.topic_id
WHERE g.event <> 'commit' OR g.error_code <> error('NONE')
ORDER BY g.time_ns, g.begin_ns, g.group_id, g.member_id, g.exchange, g.topic_id, g.delivery_count
