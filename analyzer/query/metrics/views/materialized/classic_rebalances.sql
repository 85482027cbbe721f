-- How did the classic groups rebalance? One row per rebalance: from its cause (a leave, or the first JoinGroup towards the
-- new generation) to the last SyncGroup reply. A cooperative group's two generations are one rebalance; a static member that
-- comes back to the generation that stands starts none. `cause` is joined, left, rejoined, silent, connection_lost or unknown;
-- `unheard_ns`: of a member that went without a word, from its last request to the rebalance, ns.
WITH joins AS (
    SELECT
        coalesce(cluster, '') AS cluster,
        group_id,
        generation,
        member_id,
        connection,
        -- A static member has a new member id each time it comes back; where a cut message does not tell the id, the connection is its name.
        CASE
            WHEN instance_id IS NOT NULL THEN concat('instance ', instance_id)
            ELSE coalesce(member_id, concat('connection ', CAST(connection AS STRING)))
        END AS identity,
        client_id,
        client_address,
        protocol,
        members,
        reason,
        begin_ns,
        time_ns,
        exchange
    FROM all_group_news
    WHERE group_type = 'classic' AND event = 'join' AND no_error(error_code) AND generation >= 0
),
syncs AS (
    SELECT
        coalesce(cluster, '') AS cluster, group_id, coalesce(sent_generation, generation) AS generation, member_id, connection, time_ns
    FROM all_group_news
    WHERE group_type = 'classic' AND event = 'sync' AND error_code = error('NONE')
),
first_sync AS (
    SELECT cluster, group_id, generation, min(time_ns) AS time_ns FROM syncs GROUP BY cluster, group_id, generation
),
-- The members whose JoinGroup came before the first SyncGroup reply of the generation.
builders AS (
    SELECT j.*
    FROM joins AS j
        LEFT JOIN first_sync AS s ON s.cluster = j.cluster AND s.group_id = j.group_id AND s.generation = j.generation
    WHERE s.time_ns IS NULL OR j.begin_ns <= s.time_ns
),
ends AS (
    SELECT s.cluster, s.group_id, s.generation, max(s.time_ns) AS end_ns
    FROM syncs AS s
        JOIN builders AS b
            ON b.cluster = s.cluster AND b.group_id = s.group_id AND b.generation = s.generation
            -- A reply to JoinGroup that is cut does not tell the member's id: it syncs where it joined.
            AND (b.member_id = s.member_id OR (b.member_id IS NULL AND b.connection = s.connection))
    GROUP BY s.cluster, s.group_id, s.generation
),
generations AS (
    SELECT
        b.cluster,
        b.group_id,
        b.generation,
        min(b.begin_ns) AS begin_ns,
        coalesce(max(e.end_ns), max(b.time_ns)) AS end_ns,
        max(b.time_ns) AS joined_ns,
        max(e.end_ns) IS NOT NULL AS complete,
        coalesce(max(b.members), count(DISTINCT b.identity)) AS members,
        max(b.protocol) AS protocol,
        lag(b.generation) OVER (PARTITION BY b.cluster, b.group_id ORDER BY b.generation) AS generation_before,
        lag(coalesce(max(e.end_ns), max(b.time_ns)))
            OVER (PARTITION BY b.cluster, b.group_id ORDER BY b.generation) AS end_before_ns,
        lag(max(e.end_ns) IS NOT NULL) OVER (PARTITION BY b.cluster, b.group_id ORDER BY b.generation) AS complete_before
    FROM builders AS b
        LEFT JOIN ends AS e ON e.cluster = b.cluster AND e.group_id = b.group_id AND e.generation = b.generation
    GROUP BY b.cluster, b.group_id, b.generation
),
-- Where the capture has no earlier generation, heartbeats show which members there were before.
beating AS (
    SELECT group_id, member_id, min(first_time_ns) AS first_ns, max(last_time_ns) AS last_ns
    FROM all_group_requests
    WHERE api_key = api('Heartbeat') AND member_id IS NOT NULL
    GROUP BY group_id, member_id
),
told AS (
    SELECT coalesce(cluster, '') AS cluster, group_id, member_id, connection, time_ns
    FROM all_group_news
    WHERE error_code = error('REBALANCE_IN_PROGRESS')
),
-- Possible causes of a generation: each of its joins, by a new member, by a member that was asked to rejoin, or by a member that
-- rejoined by itself.
wishes AS (
    SELECT
        b.cluster,
        b.group_id,
        b.generation,
        b.begin_ns,
        b.member_id,
        b.client_id,
        b.client_address,
        b.reason,
        b.exchange,
        CASE
            WHEN max(o.identity) IS NULL AND coalesce(min(h.first_ns), b.begin_ns) >= b.begin_ns THEN 'joined'
            WHEN max(t.time_ns) IS NULL THEN 'rejoined'
            ELSE 'told'
        END AS cause
    FROM builders AS b
        JOIN generations AS g ON g.cluster = b.cluster AND g.group_id = b.group_id AND g.generation = b.generation
        LEFT JOIN joins AS o
            ON o.cluster = b.cluster AND o.group_id = b.group_id AND o.generation = g.generation_before
            AND o.identity = b.identity
        LEFT JOIN beating AS h ON h.group_id = b.group_id AND h.member_id = b.member_id
        LEFT JOIN told AS t
            ON t.cluster = b.cluster AND t.group_id = b.group_id AND t.time_ns <= b.begin_ns
            AND (t.member_id = b.member_id OR (b.member_id IS NULL AND t.connection = b.connection))
            AND t.time_ns > coalesce(g.end_before_ns, 0)
    GROUP BY
        b.cluster, b.group_id, b.generation, b.begin_ns, b.member_id, b.client_id, b.client_address, b.reason, b.exchange
),
leaves AS (
    SELECT
        g.cluster, g.group_id, g.generation, l.begin_ns, l.member_id, l.client_id, l.client_address, l.reason, l.exchange,
        'left' AS cause
    FROM all_group_news AS l
        JOIN generations AS g
            ON g.cluster = coalesce(l.cluster, '') AND g.group_id = l.group_id
            AND l.begin_ns > coalesce(g.end_before_ns, 0) AND l.begin_ns <= g.joined_ns
    WHERE l.group_type = 'classic' AND l.event = 'leave' AND no_error(l.error_code)
),
-- Members of the generation before that neither joined this one nor left: their connection ended, or they fell silent.
lost AS (
    SELECT
        g.cluster,
        g.group_id,
        g.generation,
        max(o.member_id) AS member_id,
        max(o.client_id) AS client_id,
        max(o.client_address) AS client_address,
        max(o.exchange) AS exchange,
        -- Heartbeats are known by the member's id.
        CASE WHEN max(o.member_id) IS NOT NULL THEN g.begin_ns - max(coalesce(h.last_ns, o.time_ns)) END AS unheard_ns,
        bool_or(c.close <> 'none' AND c.last_time_ns < g.begin_ns) AS connection_lost,
        bool_or(coalesce(c.client_gaps, 0) + coalesce(c.broker_gaps, 0) > 0) AS gaps
    FROM generations AS g
        JOIN joins AS o ON o.cluster = g.cluster AND o.group_id = g.group_id AND o.generation = g.generation_before
        LEFT JOIN builders AS b
            ON b.cluster = g.cluster AND b.group_id = g.group_id AND b.generation = g.generation
            AND b.identity = o.identity
        LEFT JOIN all_group_news AS l
            ON l.event = 'leave' AND coalesce(l.cluster, '') = g.cluster AND l.group_id = g.group_id
            AND (l.member_id = o.member_id OR concat('instance ', l.instance_id) = o.identity
                OR (o.member_id IS NULL AND l.connection = o.connection))
            AND l.begin_ns BETWEEN o.begin_ns AND g.joined_ns
        LEFT JOIN beating AS h ON h.group_id = o.group_id AND h.member_id = o.member_id
        LEFT JOIN all_exchanges AS x ON x.exchange = o.exchange
        LEFT JOIN all_connections AS c ON c.connection = x.connection
    WHERE b.identity IS NULL AND l.event IS NULL
    GROUP BY g.cluster, g.group_id, g.generation, g.begin_ns, o.identity
),
causes AS (
    SELECT
        cluster, group_id, generation, begin_ns, member_id, client_id, client_address, reason, exchange, cause,
        CAST(NULL AS BIGINT) AS unheard_ns
    FROM wishes WHERE cause <> 'told'
    UNION ALL
    SELECT cluster, group_id, generation, begin_ns, member_id, client_id, client_address, reason, exchange, cause, NULL
    FROM leaves
    UNION ALL
    -- Ranked after all other causes: a lost member explains a generation only when nothing else does.
    SELECT
        cluster, group_id, generation, max_bigint(), member_id, client_id, client_address, NULL, exchange,
        CASE WHEN connection_lost THEN 'connection_lost' WHEN gaps THEN 'unknown' ELSE 'silent' END,
        unheard_ns
    FROM lost
),
ranked AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY cluster, group_id, generation ORDER BY begin_ns, exchange) AS turn
    FROM causes
),
changes AS (
    SELECT
        cluster,
        group_id,
        generation,
        count(*) FILTER (WHERE cause = 'joined') AS joined,
        count(*) FILTER (WHERE cause = 'left') AS left_members,
        count(*) FILTER (WHERE cause IN ('silent', 'connection_lost', 'unknown')) AS lost_members
    FROM causes
    GROUP BY cluster, group_id, generation
),
explained AS (
    SELECT
        g.*,
        c.cause,
        c.member_id,
        c.client_id,
        c.client_address,
        c.reason,
        c.exchange,
        c.unheard_ns,
        coalesce(n.joined, 0) AS joined,
        coalesce(n.left_members, 0) AS left_members,
        coalesce(n.lost_members, 0) AS lost_members,
        least(g.begin_ns, c.begin_ns) AS started_ns,
        CASE
            WHEN g.generation_before IS DISTINCT FROM CAST(g.generation AS BIGINT) - 1 THEN 1
            -- The generation before was never completed: this one is another attempt at it.
            WHEN NOT g.complete_before THEN 0
            -- The second generation of a cooperative rebalance follows at once, and assigns the revoked partitions.
            WHEN lower(g.protocol) LIKE '%cooperative%' AND c.cause = 'rejoined'
                AND g.begin_ns - g.end_before_ns <= s(5)
                AND (c.reason IS NULL OR lower(c.reason) LIKE '%revoke%') THEN 0
            ELSE 1
        END AS first_part
    FROM generations AS g
        LEFT JOIN ranked AS c
            ON c.cluster = g.cluster AND c.group_id = g.group_id AND c.generation = g.generation AND c.turn = 1
        LEFT JOIN changes AS n ON n.cluster = g.cluster AND n.group_id = g.group_id AND n.generation = g.generation
),
numbered AS (
    SELECT
        *,
        sum(first_part) OVER (
            PARTITION BY cluster, group_id ORDER BY generation ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS number
    FROM explained
)
SELECT
    cluster,
    group_id,
    'classic' AS group_type,
    min(generation) AS first_generation,
    max(generation) AS last_generation,
    min(coalesce(started_ns, begin_ns)) AS begin_ns,
    max(end_ns) AS end_ns,
    max_by(complete, generation) AS complete,
    coalesce(min_by(cause, generation) FILTER (WHERE first_part = 1), 'unknown') AS cause,
    -- min_by ignores nulls, and would take the value of another generation.
    nullif(min_by(coalesce(member_id, ''), generation) FILTER (WHERE first_part = 1), '') AS member_id,
    nullif(min_by(coalesce(client_id, ''), generation) FILTER (WHERE first_part = 1), '') AS client_id,
    min_by(client_address, generation) FILTER (WHERE first_part = 1) AS client_address,
    nullif(min_by(coalesce(reason, ''), generation) FILTER (WHERE first_part = 1), '') AS reason,
    min_by(exchange, generation) FILTER (WHERE first_part = 1) AS exchange,
    nullif(min_by(coalesce(unheard_ns, -1), generation) FILTER (WHERE first_part = 1), -1) AS unheard_ns,
    max_by(members, generation) AS members,
    CAST(sum(joined) AS BIGINT) AS joined,
    CAST(sum(left_members) AS BIGINT) AS left_members,
    CAST(sum(lost_members) AS BIGINT) AS lost_members,
    max(protocol) AS protocol
FROM numbered
GROUP BY cluster, group_id, number
