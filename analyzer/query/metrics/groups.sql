-- How are the groups doing? One row per group: its type (offsets: it only commits), members at the end and the most at a time,
-- rebalances with their time and the longest pause of consumption, commits and errors beyond normal operation, lag as in metric lag
-- (the sum over partitions of the newest), and that of what it committed. `state` at the end: stable, rebalancing, empty, not ready
-- or offsets; null, as members are, where no reply tells it, where no member has a name (it was refused, or its reply is cut),
-- where all that was seen of its members is that they live (heartbeats), or where messages of members could not be read (rebalances
-- too). Not ready: a streams group that lacks topics, as its coordinator says (KIP-1071).
-- `last_` columns say who started the last rebalance, and why, as in metric rebalances. Times in ns.
WITH steps AS (
    SELECT
        coalesce(cluster, '') AS cluster,
        group_id,
        min(group_type) AS group_type,
        max(group_type) AS other_type,
        max_by(protocol, time_ns) FILTER (WHERE protocol IS NOT NULL) AS protocol,
        max(coalesce(generation, sent_generation)) AS generation,
        -- Codes of normal operation: a member id first, a rebalance under way, a coordinator that moves.
        count(error_code) AS answered,
        count(*) FILTER (WHERE error_code NOT IN (error('NONE', 'COORDINATOR_LOAD_IN_PROGRESS',
            'COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR', 'REBALANCE_IN_PROGRESS', 'MEMBER_ID_REQUIRED'))) AS failures,
        max_by(error_code, time_ns) FILTER (WHERE error_code NOT IN (error('NONE', 'COORDINATOR_LOAD_IN_PROGRESS',
            'COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR', 'REBALANCE_IN_PROGRESS', 'MEMBER_ID_REQUIRED'))) AS last_failure,
        -- Each reply with a status leaves a row; the first one without it has tasks, and leaves one too.
        max(time_ns) FILTER (WHERE regexp_matches(group_status, 'MISSING|INCORRECTLY'))
            = max(time_ns) FILTER (WHERE event IN ('join', 'heartbeat') AND error_code = error('NONE')) AS lacks_topics,
        min(begin_ns) AS first_time_ns,
        max(time_ns) AS last_time_ns
    FROM group_news
    WHERE group_id IS NOT NULL AND event <> 'commit'
    GROUP BY coalesce(cluster, ''), group_id
),
-- Of a classic group those of its last generation that did not leave; of another those that joined and did not leave.
last_generation AS (
    SELECT coalesce(cluster, '') AS cluster, group_id, max(generation) AS generation
    FROM all_group_news
    WHERE group_type = 'classic' AND event = 'join' AND generation >= 0
    GROUP BY coalesce(cluster, ''), group_id
),
membership AS (
    SELECT
        coalesce(e.cluster, '') AS cluster,
        e.group_id,
        CASE WHEN e.instance_id IS NULL THEN e.member_id ELSE concat('instance ', e.instance_id) END AS identity,
        max(e.group_type) AS group_type,
        max(e.time_ns) FILTER (WHERE e.event = 'leave') AS left_ns,
        max(e.time_ns) FILTER (WHERE e.event <> 'leave') AS last_ns,
        bool_or(e.event = 'join' AND e.generation = g.generation) AS in_last
    FROM all_group_news AS e
        LEFT JOIN last_generation AS g ON g.cluster = coalesce(e.cluster, '') AND g.group_id = e.group_id
    WHERE coalesce(e.instance_id, e.member_id, '') <> '' AND e.event <> 'commit'
        AND coalesce(e.error_code, error('NONE')) IN (error('NONE', 'REBALANCE_IN_PROGRESS'))
    GROUP BY
        coalesce(e.cluster, ''), e.group_id, CASE WHEN e.instance_id IS NULL THEN e.member_id ELSE concat('instance ', e.instance_id) END
),
lost AS (
    SELECT cluster, group_id, member_id, max(begin_ns) AS lost_ns
    FROM group_rebalances
    WHERE cause IN ('silent', 'connection_lost')
    GROUP BY cluster, group_id, member_id
),
present AS (
    SELECT m.cluster, m.group_id, count(*) AS seen, count(*) FILTER (
        WHERE (m.group_type <> 'classic' OR m.in_last) AND coalesce(m.left_ns < m.last_ns, true)
            AND coalesce(l.lost_ns < m.last_ns, true)
    ) AS members, max(greatest(coalesce(m.left_ns, 0), coalesce(l.lost_ns, 0))) AS last_left_ns
    FROM membership AS m
        LEFT JOIN lost AS l ON l.cluster = m.cluster AND l.group_id = m.group_id AND l.member_id = m.identity
    GROUP BY m.cluster, m.group_id
),
rebalanced AS (
    SELECT
        cluster,
        group_id,
        count(*) AS rebalances,
        TRY_CAST(sum(duration_ns) AS BIGINT) AS rebalancing_ns,
        max(duration_ns) AS longest_rebalance_ns,
        max(pause_ns) AS longest_pause_ns,
        max(begin_ns) AS last_rebalance_ns,
        max(end_ns) AS last_end_ns,
        max(members) AS most_members,
        max_by(complete, begin_ns) AS complete
    FROM group_rebalances
    GROUP BY cluster, group_id
),
last_rebalances AS (
    SELECT * FROM (
        SELECT
            cluster,
            group_id,
            cause,
            client_id,
            client_address,
            reason,
            unheard_ns,
            row_number() OVER (PARTITION BY cluster, group_id ORDER BY begin_ns DESC, exchange DESC) AS place
        FROM group_rebalances
    ) AS placed
    WHERE place = 1
),
waiting AS (
    SELECT coalesce(cluster, '') AS cluster, group_id, max(begin_ns) AS asked_ns
    FROM all_group_news
    WHERE group_type = 'classic' AND event = 'join' AND error_code IS NULL
    GROUP BY coalesce(cluster, ''), group_id
),
committed AS (
    SELECT
        coalesce(c.cluster, '') AS cluster,
        x.group_id,
        CAST(coalesce(sum(x.exchanges) FILTER (WHERE x.api_key <> api('Heartbeat')), 0) AS BIGINT) AS commits,
        CAST(coalesce(sum(x.exchanges) FILTER (WHERE x.api_key <> api('Heartbeat') AND x.error_code IS NOT NULL), 0) AS BIGINT)
            AS answered_commits,
        CAST(coalesce(sum(x.exchanges) FILTER (WHERE x.api_key <> api('Heartbeat') AND x.error_code NOT IN (error('NONE',
            'COORDINATOR_LOAD_IN_PROGRESS', 'COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR',
            'REBALANCE_IN_PROGRESS'))), 0) AS BIGINT) AS failed_commits,
        max_by(x.error_code, x.last_time_ns) FILTER (WHERE x.api_key <> api('Heartbeat')
            AND x.error_code NOT IN (error('NONE', 'COORDINATOR_LOAD_IN_PROGRESS', 'COORDINATOR_NOT_AVAILABLE',
            'NOT_COORDINATOR', 'REBALANCE_IN_PROGRESS')))
            AS last_commit_error,
        count(*) FILTER (WHERE x.api_key = api('Heartbeat')) AS heartbeats,
        count(*) FILTER (WHERE x.api_key = api('Heartbeat') AND x.error_code IS NOT NULL) AS answered_heartbeats,
        CAST(coalesce(sum(x.exchanges) FILTER (WHERE x.api_key = api('TxnOffsetCommit')), 0) AS BIGINT) AS commits_in_transactions,
        max(x.last_time_ns) FILTER (WHERE x.api_key = api('Heartbeat') AND x.error_code = error('NONE')) AS last_beat_ns,
        min(x.first_time_ns) AS first_time_ns,
        max(x.last_time_ns) AS last_time_ns
    FROM group_requests AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_key IN (api('OffsetCommit', 'Heartbeat', 'TxnOffsetCommit')) AND NOT x.is_orphan
    GROUP BY coalesce(c.cluster, ''), x.group_id
),
-- Whoever lives after the last one that was known has left is known by its heartbeats alone.
known AS (
    SELECT
        p.cluster,
        p.group_id,
        p.seen,
        CASE WHEN p.members > 0 OR coalesce(k.last_beat_ns <= p.last_left_ns, true) THEN p.members END AS members
    FROM present AS p LEFT JOIN committed AS k ON k.cluster = p.cluster AND k.group_id = p.group_id
),
behind AS (
    SELECT coalesce(cluster, '') AS cluster, group_id, TRY_CAST(sum(CAST(last_lag AS DECIMAL(38, 0))) AS BIGINT) AS lag
    FROM partition_readers
    WHERE group_id IS NOT NULL AND is_newest
    GROUP BY coalesce(cluster, ''), group_id
),
-- Of partitions whose end is known, as kafka-consumer-groups.sh counts.
uncommitted AS (
    SELECT cluster, group_id, TRY_CAST(sum(CAST(committed_lag AS DECIMAL(38, 0))) AS BIGINT) AS committed_lag
    FROM committed_offsets
    GROUP BY cluster, group_id
),
-- Groups some of whose members may have said more than could be read: JoinGroup to SyncGroup, and heartbeats of newer protocols.
unread AS (
    SELECT DISTINCT coalesce(c.cluster, '') AS cluster, x.group_id
    FROM exchanges AS x
        JOIN connections AS c ON c.connection = x.connection
        JOIN unread_clients AS u ON u.client_address = x.client_address AND coalesce(u.client_id, '') = coalesce(x.client_id, '')
    WHERE x.group_id IS NOT NULL AND (u.api_key BETWEEN api('JoinGroup') AND api('SyncGroup')
        OR u.api_key IN (api('ConsumerGroupHeartbeat', 'ShareGroupHeartbeat', 'StreamsGroupHeartbeat')))
),
names AS (
    SELECT cluster, group_id FROM steps
    UNION
    SELECT cluster, group_id FROM committed
)
SELECT
    nullif(n.cluster, '') AS cluster,
    n.group_id,
    CASE WHEN s.group_type IS NULL AND k.heartbeats > 0 THEN 'classic' WHEN s.group_type IS NULL AND u.group_id IS NULL THEN 'offsets'
        WHEN s.group_type <> s.other_type THEN 'mixed' ELSE s.group_type END AS group_type,
    CASE
        WHEN u.group_id IS NOT NULL THEN NULL
        WHEN s.answered = 0 OR (s.group_type IS NULL AND k.heartbeats > 0) THEN NULL
        WHEN s.group_type IS NULL THEN 'offsets'
        WHEN p.members = 0 THEN 'empty'
        WHEN s.lacks_topics THEN 'not ready'
        WHEN p.members IS NULL THEN NULL
        WHEN w.asked_ns > coalesce(r.last_end_ns, 0) OR NOT coalesce(r.complete, true) THEN 'rebalancing'
        ELSE 'stable'
    END AS state,
    CASE
        WHEN u.group_id IS NULL AND s.answered > 0 THEN p.members
        WHEN u.group_id IS NULL AND s.group_type IS NULL AND k.heartbeats = 0 THEN 0
    END AS members,
    coalesce(p.seen, 0) AS members_seen,
    s.protocol,
    s.generation,
    CASE WHEN u.group_id IS NULL
            AND (s.answered > 0 OR k.answered_heartbeats > 0 OR (s.group_type IS NULL AND k.heartbeats = 0))
        THEN coalesce(r.rebalances, 0) END AS rebalances,
    r.rebalancing_ns,
    r.longest_rebalance_ns,
    r.longest_pause_ns,
    r.last_rebalance_ns,
    l.cause AS last_cause,
    l.client_id AS last_client_id,
    l.client_address AS last_client_address,
    l.reason AS last_reason,
    l.unheard_ns AS last_unheard_ns,
    coalesce(k.commits, 0) AS commits,
    CASE WHEN k.answered_commits > 0 OR coalesce(k.commits, 0) = 0 THEN coalesce(k.failed_commits, 0) END AS failed_commits,
    k.last_commit_error,
    coalesce(k.commits_in_transactions, 0) AS commits_in_transactions,
    CASE WHEN s.failures > 0 OR (u.group_id IS NULL AND (s.answered > 0 OR s.answered IS NULL))
        THEN coalesce(s.failures, 0) END AS failures,
    s.last_failure,
    b.lag,
    o.committed_lag,
    least(s.first_time_ns, k.first_time_ns) AS first_time_ns,
    greatest(s.last_time_ns, k.last_time_ns) AS last_time_ns
FROM names AS n
    LEFT JOIN steps AS s ON s.cluster = n.cluster AND s.group_id = n.group_id
    LEFT JOIN known AS p ON p.cluster = n.cluster AND p.group_id = n.group_id
    LEFT JOIN rebalanced AS r ON r.cluster = n.cluster AND r.group_id = n.group_id
    LEFT JOIN last_rebalances AS l ON l.cluster = n.cluster AND l.group_id = n.group_id
    LEFT JOIN waiting AS w ON w.cluster = n.cluster AND w.group_id = n.group_id
    LEFT JOIN committed AS k ON k.cluster = n.cluster AND k.group_id = n.group_id
    LEFT JOIN unread AS u ON u.cluster = n.cluster AND u.group_id = n.group_id
    LEFT JOIN behind AS b ON b.cluster = n.cluster AND b.group_id = n.group_id
    LEFT JOIN uncommitted AS o ON o.cluster = n.cluster AND o.group_id = n.group_id
    CROSS JOIN settings AS wish
ORDER BY
    CASE wish.sort
        WHEN 'rebalances' THEN r.rebalances WHEN 'lag' THEN b.lag WHEN 'commits' THEN k.commits
        WHEN 'errors' THEN coalesce(s.failures, 0) + coalesce(k.failed_commits, 0) ELSE r.rebalancing_ns
    END DESC NULLS LAST,
    rebalances DESC NULLS LAST, commits DESC, n.group_id, n.cluster
