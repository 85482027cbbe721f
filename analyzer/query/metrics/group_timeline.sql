-- What happened in each group, step by step? One row per join, sync, leave and heartbeat that says something new, per topic and number
-- of deliveries of records that a ShareFetch got again, and per commit that failed, in order of time (the reply's last byte, ns).
-- `generation` is the member epoch in the newer group types.
SELECT
    time_ns, begin_ns, cluster, group_id, group_type, event, client_id, client_address, member_id, instance_id, generation,
    sent_generation, leader IS NOT NULL AND leader = member_id AS is_leader, members, protocol, reason, topics,
    assigned_partitions, error_code, group_status, coalesce(topic, topic_id) AS given_topic, delivery_count, redelivered, exchange
FROM group_news
WHERE event <> 'commit' OR error_code <> error('NONE')
ORDER BY time_ns, begin_ns, group_id, member_id, exchange, topic_id, delivery_count
