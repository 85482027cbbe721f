-- Every rebalance of every group: classic_rebalances and managed_rebalances together. `pause_ns` of a classic group: the
-- longest stretch from its begin on in which none of its clients had a Fetch under way; null: not seen or not known. Both are null
-- where the clock jumped in between.
WITH classic AS (
    SELECT
        r.cluster, r.group_id, r.group_type, r.first_generation, r.last_generation, r.begin_ns, r.end_ns, r.complete, r.cause,
        r.member_id, r.client_id, r.client_address, r.reason, r.exchange, r.unheard_ns, r.members, r.joined, r.left_members,
        r.lost_members, r.protocol,
        CASE WHEN min(p.end_ns) FILTER (WHERE p.begin_ns IS NULL) < r.begin_ns
            THEN coalesce(max(p.end_ns - greatest(p.begin_ns, r.begin_ns)) FILTER (WHERE p.begin_ns IS NOT NULL), 0)
            END AS pause_ns
    FROM classic_rebalances AS r
        LEFT JOIN fetch_pauses AS p
            ON p.cluster = r.cluster AND p.group_id = r.group_id
            AND (p.begin_ns IS NULL OR (p.begin_ns <= r.end_ns AND p.end_ns >= r.begin_ns))
    GROUP BY
        r.cluster, r.group_id, r.group_type, r.first_generation, r.last_generation, r.begin_ns, r.end_ns, r.complete, r.cause,
        r.member_id, r.client_id, r.client_address, r.reason, r.exchange, r.unheard_ns, r.members, r.joined, r.left_members,
        r.lost_members, r.protocol
),
-- A partition that a sync gives to another member than the one before has moved.
moved AS (
    SELECT cluster, group_id, time_ns, count(*) AS partitions
    FROM (
        SELECT
            coalesce(cluster, '') AS cluster,
            group_id,
            time_ns,
            member_id,
            lag(member_id) OVER (
                PARTITION BY coalesce(cluster, ''), group_id, coalesce(topic, topic_id), partition ORDER BY time_ns, exchange
            ) AS owner_before
        FROM all_assignments
        WHERE group_type = 'classic'
    ) AS followed
    WHERE owner_before IS DISTINCT FROM member_id
    GROUP BY cluster, group_id, time_ns
),
moved_by_rebalance AS (
    SELECT r.cluster, r.group_id, r.begin_ns, CAST(sum(m.partitions) AS BIGINT) AS partitions
    FROM classic_rebalances AS r
        JOIN moved AS m
            ON m.cluster = r.cluster AND m.group_id = r.group_id AND m.time_ns BETWEEN r.begin_ns AND r.end_ns
    GROUP BY r.cluster, r.group_id, r.begin_ns
),
found AS (
    SELECT
        c.cluster, c.group_id, c.group_type, c.first_generation, c.last_generation, c.begin_ns, c.end_ns,
        c.end_ns - c.begin_ns AS duration_ns, c.complete, c.cause, c.member_id, c.client_id, c.client_address, c.reason, c.exchange,
        c.unheard_ns, c.members, c.joined, c.left_members, c.lost_members, c.protocol, m.partitions AS moved_partitions, c.pause_ns
    FROM classic AS c
        LEFT JOIN moved_by_rebalance AS m ON m.cluster = c.cluster AND m.group_id = c.group_id AND m.begin_ns = c.begin_ns
    UNION ALL
    SELECT
        cluster, group_id, group_type, first_generation, last_generation, begin_ns, end_ns, end_ns - begin_ns, true, cause, member_id,
        client_id, client_address, reason, exchange, unheard_ns, NULL, joined, left_members, lost_members, NULL, moved_partitions,
        pause_ns
    FROM managed_rebalances
)
SELECT
    f.cluster, f.group_id, f.group_type, f.first_generation, f.last_generation, f.begin_ns, f.end_ns,
    CASE WHEN j.begin_ns IS NULL THEN f.duration_ns END AS duration_ns, f.complete, f.cause, f.member_id, f.client_id,
    f.client_address, f.reason, f.exchange, f.unheard_ns, f.members, f.joined, f.left_members, f.lost_members, f.protocol,
    f.moved_partitions, CASE WHEN j.begin_ns IS NULL THEN f.pause_ns END AS pause_ns
FROM found AS f
    LEFT JOIN (
        SELECT DISTINCT r.cluster, r.group_id, r.begin_ns, r.end_ns
        FROM found AS r
            JOIN clock_jumps AS c
                ON r.begin_ns <= c.end_ns AND r.end_ns >= c.begin_ns AND r.end_ns - r.begin_ns >= c.least_ns
    ) AS j ON j.cluster = f.cluster AND j.group_id = f.group_id AND j.begin_ns = f.begin_ns AND j.end_ns = f.end_ns
