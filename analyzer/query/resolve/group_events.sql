-- Events of groups. Joins, syncs, leaves, and heartbeats of newer group types, come from bodies; failed heartbeats of classic
-- groups, and commits, come from exchanges alone. The static member behind a member id is known where a body has both. A commit
-- has the type of its group; a group of which only commits were seen is classic.
-- Each kind is asked for by itself, so that of all commits those that failed are found without the others.
WITH without_bodies AS (
    SELECT 'heartbeat' AS event, * FROM raw_exchanges AS x WHERE x.api_key = api('Heartbeat') AND x.error_code <> error('NONE')
    UNION ALL
    SELECT 'commit', * FROM raw_exchanges AS x WHERE x.api_key = api('OffsetCommit')
),
steps AS (
    SELECT
        s.exchange, s.part, x.time_ns, x.begin_ns, x.client_id,
        s.event, s.group_type, s.group_id, s.member_id, s.instance_id, s.generation, s.sent_generation, s.leader, s.members,
        s.protocol, s.reason, s.topics, s.assigned_partitions, s.session_timeout_ms, s.rebalance_timeout_ms, s.error_code,
        s.group_status, s.topic_id, s.delivery_count, s.redelivered
    FROM raw_group_steps AS s JOIN fact_times AS x ON x.exchange = s.exchange AND x.part = s.part
    UNION ALL
    SELECT
        x.exchange,
        x.part,
        coalesce(x.response_end_ns, x.request_end_ns) AS time_ns,
        x.request_time_ns AS begin_ns,
        x.client_id,
        x.event,
        CASE WHEN x.event = 'heartbeat' THEN 'classic' ELSE coalesce(t.group_type, a.group_type, 'classic') END AS group_type,
        x.group_id,
        CASE WHEN x.member_id <> '' THEN x.member_id END AS member_id,
        k.instance_id,
        CAST(NULL AS INTEGER) AS generation,
        CASE WHEN x.generation_id >= 0 THEN x.generation_id END AS sent_generation,
        CAST(NULL AS STRING) AS leader,
        CAST(NULL AS INTEGER) AS members,
        CAST(NULL AS STRING) AS protocol,
        CAST(NULL AS STRING) AS reason,
        CAST(NULL AS STRING) AS topics,
        CAST(NULL AS INTEGER) AS assigned_partitions,
        CAST(NULL AS INTEGER) AS session_timeout_ms,
        CAST(NULL AS INTEGER) AS rebalance_timeout_ms,
        x.error_code,
        CAST(NULL AS STRING) AS group_status,
        CAST(NULL AS STRING) AS topic_id,
        CAST(NULL AS INTEGER) AS delivery_count,
        CAST(NULL AS BIGINT) AS redelivered
    FROM without_bodies AS x
    LEFT JOIN static_members AS k ON k.group_id = x.group_id AND k.member_id = x.member_id
    LEFT JOIN part_group_types AS t ON t.part = x.part AND t.group_id = x.group_id
    LEFT JOIN group_types AS a ON a.group_id = x.group_id
    WHERE NOT x.token
)
SELECT
    s.exchange,
    l.connection,
    l.cluster,
    s.time_ns,
    s.begin_ns,
    s.group_id,
    s.group_type,
    s.event,
    s.client_id,
    l.client_address,
    s.member_id,
    s.instance_id,
    s.generation,
    s.sent_generation,
    s.leader,
    s.members,
    s.protocol,
    s.reason,
    s.topics,
    s.assigned_partitions,
    s.session_timeout_ms,
    s.rebalance_timeout_ms,
    s.error_code,
    s.group_status,
    n.topic,
    s.topic_id,
    s.delivery_count,
    s.redelivered
FROM steps AS s
JOIN connection_context AS l ON l.part = s.part
LEFT JOIN topic_names AS n ON n.topic_id = s.topic_id
WHERE l.is_kafka
