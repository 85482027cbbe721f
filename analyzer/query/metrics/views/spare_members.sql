-- Groups with members that hold no partition while others do: one row a group. What each member was given last counts, in groups of
-- which nothing came in the last 10 s of the capture; a member that left has none to hold. No reserve is who waits for partitions that
-- another member was told to give up (KIP-848): `holder`, which for a minute has not done so, and stays at an older epoch than others.
WITH given AS (
    SELECT
        cluster,
        group_id,
        group_type,
        member_id,
        who() AS who,
        client_address,
        exchange,
        time_ns,
        event,
        assigned_partitions,
        lag(assigned_partitions) OVER (PARTITION BY cluster, group_id, member_id ORDER BY time_ns, exchange) AS had_partitions,
        row_number() OVER (PARTITION BY cluster, group_id, member_id ORDER BY time_ns DESC, exchange) AS place
    FROM group_news
    WHERE group_type IN ('classic', 'consumer') AND member_id IS NOT NULL AND error_code = error('NONE')
        AND (assigned_partitions IS NOT NULL OR event = 'leave')
),
epochs AS (
    SELECT
        cluster,
        group_id,
        member_id,
        max(generation) AS epoch,
        max(max(generation)) OVER (PARTITION BY cluster, group_id) AS newest
    FROM group_news
    WHERE group_type = 'consumer' AND member_id IS NOT NULL AND error_code = error('NONE')
    GROUP BY cluster, group_id, member_id
),
counted AS (
    SELECT
        g.group_id,
        count(*) AS members,
        count(*) FILTER (WHERE assigned_partitions = 0) AS spare,
        min(who) FILTER (WHERE assigned_partitions = 0) AS who,
        CASE WHEN count(*) FILTER (WHERE assigned_partitions = 0) = 1
            THEN max(client_address) FILTER (WHERE assigned_partitions = 0) END AS client_address,
        CAST(sum(assigned_partitions) AS BIGINT) AS partitions,
        min_by(who, time_ns) FILTER (WHERE g.group_type = 'consumer' AND assigned_partitions < had_partitions AND epoch < newest) AS holder,
        min(time_ns) FILTER (WHERE g.group_type = 'consumer' AND assigned_partitions < had_partitions AND epoch < newest) AS told_ns,
        count(*) FILTER (WHERE assigned_partitions = 0) AS weight,
        min_by(exchange, (time_ns, exchange)) FILTER (WHERE assigned_partitions = 0) AS evidence_first,
        min(time_ns) FILTER (WHERE assigned_partitions = 0) AS first_time_ns,
        (SELECT max(last_time_ns) FROM time_range) AS last_time_ns
    FROM given AS g
    LEFT JOIN epochs AS e ON e.cluster IS NOT DISTINCT FROM g.cluster AND e.group_id = g.group_id AND e.member_id = g.member_id
    WHERE place = 1 AND event <> 'leave'
    GROUP BY g.cluster, g.group_id
    HAVING count(*) FILTER (WHERE assigned_partitions = 0) > 0 AND sum(assigned_partitions) > 0
        AND (SELECT max(last_time_ns) FROM time_range) - max(time_ns) >= s(10)
),
told AS (
    SELECT
        * EXCLUDE (holder, told_ns),
        CASE WHEN last_time_ns - told_ns >= s(60) THEN holder END AS holder,
        CASE WHEN last_time_ns - told_ns >= s(60) THEN last_time_ns - told_ns END AS held_ns
    FROM counted
)
SELECT
    *,
    CASE WHEN holder IS NULL THEN partitions END AS shared,
    CASE
        WHEN holder IS NOT NULL THEN 'Look at the log of that member: it does not poll, or its callback for revoked partitions does not return. After max.poll.interval.ms it is put out of the group, and the others get what it holds.'
        ELSE 'A partition belongs to one member of a group at a time, so members beyond the number of partitions wait as a reserve. If they are to work, add partitions (kafka-topics.sh --alter --partitions), or see whether each member subscribes to the topics that it should.'
    END AS advice,
    CASE WHEN holder IS NOT NULL THEN 'medium' END AS severity
FROM told
