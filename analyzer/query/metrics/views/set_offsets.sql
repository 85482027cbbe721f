-- Which committed offsets were set by a client that reads none of them? One row per group, topic and such a client: from where
-- (`last_offset`, the last one that anybody committed or was told) to where (`set_offset`, both of the first of the partitions), and by
-- how many records that is back (`behind`) or ahead (`ahead`), in all partitions. What lies ahead of an offset that was told alone does
-- not count: a client that copies offsets of another cluster sets them so. Nor does what the client had set itself. A commit without
-- a member id is one of a tool, or of a client that assigns itself partitions; such a client reads them.
WITH setters AS (
    SELECT DISTINCT q.client_address, q.client_id, q.group_id
    FROM group_requests AS q
    WHERE q.api_key = api('OffsetCommit') AND coalesce(q.member_id, '') = ''
        AND NOT EXISTS (
            SELECT 1 FROM partition_readers AS r
            WHERE r.client_address = q.client_address AND r.client_id IS NOT DISTINCT FROM q.client_id
        )
),
-- The last commit over each connection: brokers refuse others while the group has members.
known AS (
    SELECT
        coalesce(c.cluster, concat(c.broker_address, ':', CAST(c.broker_port AS STRING))) AS cluster,
        k.group_id,
        k.topic,
        k.partition,
        k.exchange,
        k.committed_time_ns AS time_ns,
        who(k) AS who,
        k.client_address,
        true AS is_commit,
        s.group_id IS NOT NULL AS is_set,
        k.committed_offset AS known_offset
    FROM commit_sums AS k
    JOIN connections AS c ON c.connection = k.connection
    LEFT JOIN setters AS s
        ON s.client_address = k.client_address AND s.client_id IS NOT DISTINCT FROM k.client_id AND s.group_id = k.group_id
    WHERE k.group_id IN (SELECT group_id FROM setters)
    UNION ALL
    SELECT
        coalesce(c.cluster, concat(c.broker_address, ':', CAST(c.broker_port AS STRING))),
        x.group_id,
        coalesce(e.topic, e.topic_id),
        e.partition,
        x.exchange,
        x.request_time_ns,
        who(x),
        x.client_address,
        false,
        false,
        e.offset
    FROM exchanges AS x
    JOIN connections AS c ON c.connection = x.connection
    JOIN entries AS e ON e.exchange = x.exchange AND e.side = 'response'
    WHERE x.api_key = api('OffsetFetch') AND x.group_id IN (SELECT group_id FROM setters) AND e.offset >= 0
        AND x.status = 'answered' AND x.response_decoded = 'full' AND coalesce(x.error_count, 0) = 0
),
followed AS (
    SELECT
        *,
        lag(known_offset) OVER in_time AS last_offset,
        lag(is_commit) OVER in_time AS was_commit,
        lag(who) OVER in_time AS last_who
    FROM known
    WINDOW in_time AS (PARTITION BY cluster, group_id, topic, partition ORDER BY time_ns, exchange)
)
SELECT
    group_id,
    topic,
    who,
    client_address,
    count(*) AS partitions,
    min_by(last_offset, (partition, time_ns)) AS last_offset,
    min_by(known_offset, (partition, time_ns)) AS set_offset,
    nullif(TRY_CAST(sum(CAST(greatest(last_offset - known_offset, 0) AS DECIMAL(38, 0))) AS BIGINT), 0) AS behind,
    nullif(TRY_CAST(sum(CAST(greatest(known_offset - last_offset, 0) AS DECIMAL(38, 0))) AS BIGINT), 0) AS ahead,
    count(*) AS weight,
    min_by(exchange, (partition, time_ns)) AS evidence_set,
    min(time_ns) AS first_time_ns,
    max(time_ns) AS last_time_ns
FROM followed
WHERE is_set AND NOT (was_commit AND last_who = who) AND (known_offset < last_offset OR (known_offset > last_offset AND was_commit))
GROUP BY cluster, group_id, topic, who, client_address
