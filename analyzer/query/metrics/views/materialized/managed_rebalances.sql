-- How did the groups rebalance whose assignment the broker makes (consumer, share, streams)? There is no barrier: a rebalance
-- runs from its cause (a join, a leave, a member that went without a word) to the last partition that moved for it: consumer
-- and streams: until its new owner's first fetch, share: until the member was told. Causes before the next move count as one
-- rebalance. `pause_ns`: the longest time that a moved partition had nobody, from revoke or leave to fetch; null: not known.
WITH held AS (
    SELECT
        coalesce(cluster, '') AS cluster,
        group_id,
        group_type,
        -- Members of a share group hold a partition together.
        concat(
            coalesce(topic, topic_id, ''),
            '|',
            coalesce(CAST(partition AS STRING), ''),
            CASE WHEN group_type = 'share' THEN concat('|', coalesce(member_id, '')) ELSE '' END
        ) AS place,
        coalesce(topic, topic_id) AS topic,
        partition,
        member_id,
        client_id,
        client_address,
        generation,
        time_ns,
        exchange
    FROM all_assignments
    WHERE group_type <> 'classic'
),
followed AS (
    SELECT
        *,
        lag(member_id) OVER (PARTITION BY cluster, group_id, place ORDER BY time_ns, exchange) AS owner_before,
        lag(time_ns) OVER (PARTITION BY cluster, group_id, place ORDER BY time_ns, exchange) AS held_before_ns
    FROM held
),
told AS (
    SELECT coalesce(cluster, '') AS cluster, group_id, member_id, time_ns, event
    FROM all_group_news
    WHERE group_type <> 'classic' AND no_error(error_code) AND (event = 'leave' OR assigned_partitions IS NOT NULL)
),
moves AS (
    SELECT
        f.cluster, f.group_id, f.group_type, f.topic, f.partition, f.member_id, f.client_id, f.client_address, f.generation,
        f.time_ns, f.exchange, f.owner_before, min(t.time_ns) FILTER (WHERE t.time_ns <= f.time_ns) AS given_up_ns
    FROM (SELECT * FROM followed WHERE owner_before IS DISTINCT FROM member_id) AS f
        -- The first that it was told after that.
        ASOF LEFT JOIN told AS t
            ON t.cluster = f.cluster AND t.group_id = f.group_id AND t.member_id = f.owner_before AND t.time_ns > f.held_before_ns
    GROUP BY
        f.cluster, f.group_id, f.group_type, f.topic, f.partition, f.member_id, f.client_id, f.client_address, f.generation,
        f.time_ns, f.exchange, f.owner_before
),
-- Before they meet the moves, of which a client may have many.
fetches AS MATERIALIZED (
    SELECT
        coalesce(p.cluster, '') AS cluster, x.client_address, x.client_id, coalesce(p.topic, p.topic_id) AS topic, p.partition,
        x.request_time_ns
    FROM all_fetch_positions AS p
        JOIN (
            SELECT topic, partition, min(time_ns) AS time_ns FROM moves WHERE group_type <> 'share' GROUP BY topic, partition
        ) AS m
            ON m.topic = coalesce(p.topic, p.topic_id) AND m.partition = p.partition
        JOIN all_exchanges AS x ON x.exchange = p.exchange AND x.request_time_ns >= m.time_ns
    WHERE x.api_key = api('Fetch')
),
first_fetches AS (
    SELECT m.cluster, m.group_id, m.topic, m.partition, m.time_ns, min(x.request_time_ns) AS fetch_ns
    FROM moves AS m
        JOIN fetches AS x
            ON x.cluster = m.cluster AND x.topic = m.topic AND x.partition = m.partition AND x.client_address = m.client_address
            AND coalesce(x.client_id, '') = coalesce(m.client_id, '') AND x.request_time_ns >= m.time_ns
    WHERE m.group_type <> 'share'
    GROUP BY m.cluster, m.group_id, m.topic, m.partition, m.time_ns
),
alive AS (
    SELECT x.group_id, x.member_id, max(x.last_time_ns) AS last_ns, max_by(x.client_id, x.last_time_ns) FILTER (WHERE x.client_id IS NOT NULL) AS client_id,
        max_by(x.client_address, x.last_time_ns) AS client_address, max_by(x.last_exchange, x.last_time_ns) AS exchange,
        max_by(c.close, x.last_time_ns) AS close, max_by(c.last_time_ns, x.last_time_ns) AS closed_ns,
        max(coalesce(c.client_gaps, 0) + coalesce(c.broker_gaps, 0)) AS gaps
    FROM all_group_requests AS x JOIN all_connections AS c ON c.connection = x.connection
    WHERE x.api_key IN (api('ConsumerGroupHeartbeat', 'ShareGroupHeartbeat', 'StreamsGroupHeartbeat')) AND x.member_id IS NOT NULL
    GROUP BY x.group_id, x.member_id
),
-- Members that lost partitions without being told to revoke them and without leaving; `time_ns` is that of the first such move.
orphaned AS (
    SELECT cluster, group_id, group_type, owner_before, min(time_ns) AS time_ns, max(generation) AS generation
    FROM moves
    WHERE owner_before IS NOT NULL AND given_up_ns IS NULL
    GROUP BY cluster, group_id, group_type, owner_before
),
epochs AS (
    SELECT
        coalesce(cluster, '') AS cluster, group_id, group_type, time_ns, member_id, client_id, client_address, exchange, generation,
        lag(generation) OVER (PARTITION BY cluster, group_id, member_id ORDER BY time_ns, exchange) AS epoch_before
    FROM all_group_news
    WHERE group_type = 'streams' AND no_error(error_code) AND generation IS NOT NULL
        AND group_id NOT IN (SELECT group_id FROM held)
),
rows AS (
    SELECT
        coalesce(cluster, '') AS cluster, group_id, group_type, time_ns, begin_ns, 0 AS is_move,
        CASE event WHEN 'join' THEN 'joined' ELSE 'left' END AS cause, member_id, client_id, client_address, reason, exchange,
        CASE WHEN generation > 0 THEN generation END AS generation,
        CAST(NULL AS BIGINT) AS fetch_ns, CAST(NULL AS BIGINT) AS pause_ns, CAST(NULL AS BIGINT) AS unheard_ns,
        CAST(NULL AS INT) AS partitions
    FROM all_group_news
    WHERE group_type <> 'classic' AND event IN ('join', 'leave') AND no_error(error_code)
    UNION ALL
    SELECT
        o.cluster, o.group_id, o.group_type, o.time_ns, o.time_ns, 0,
        CASE
            WHEN a.close <> 'none' AND a.closed_ns < o.time_ns THEN 'connection_lost' WHEN a.gaps > 0 THEN 'unknown' ELSE 'silent'
        END,
        o.owner_before, a.client_id, a.client_address, NULL, a.exchange, o.generation, NULL, NULL, o.time_ns - a.last_ns, NULL
    FROM orphaned AS o LEFT JOIN alive AS a ON a.group_id = o.group_id AND a.member_id = o.owner_before
    UNION ALL
    SELECT
        m.cluster, m.group_id, m.group_type, m.time_ns, m.time_ns, 1, 'moved', m.member_id, m.client_id, m.client_address, NULL,
        m.exchange, m.generation, f.fetch_ns, f.fetch_ns - m.given_up_ns, NULL, 1
    FROM moves AS m
        LEFT JOIN first_fetches AS f
            ON f.cluster = m.cluster AND f.group_id = m.group_id AND f.topic = m.topic AND f.partition = m.partition
            AND f.time_ns = m.time_ns
    UNION ALL
    -- A streams group assigns tasks: a new epoch of a member shows that something moved, but not which partition.
    SELECT
        cluster, group_id, group_type, time_ns, time_ns, 1, 'moved', member_id, client_id, client_address, NULL, exchange,
        generation, NULL, NULL, NULL, NULL
    FROM epochs
    WHERE generation > 0 AND generation IS DISTINCT FROM epoch_before
),
ordered AS (
    SELECT
        *,
        coalesce(
            lag(cause) OVER (
                PARTITION BY cluster, group_id ORDER BY time_ns, is_move, exchange NULLS LAST, member_id NULLS LAST
            ),
            'moved'
        ) AS before,
        sum(CASE cause WHEN 'joined' THEN 1 WHEN 'moved' THEN 0 ELSE -1 END) OVER (
            PARTITION BY cluster, group_id ORDER BY time_ns, is_move, exchange NULLS LAST, member_id NULLS LAST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS members
    FROM rows
),
numbered AS (
    SELECT
        *,
        -- After its last member has left, a group starts again.
        sum(CASE WHEN is_move = 0 AND (before = 'moved' OR (before = 'left' AND members <= 1)) THEN 1 ELSE 0 END) OVER (
            PARTITION BY cluster, group_id ORDER BY time_ns, is_move, exchange NULLS LAST, member_id NULLS LAST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS number,
        -- Of what came at one moment the same is the first in every run.
        row_number() OVER (
            PARTITION BY cluster, group_id ORDER BY time_ns, is_move, exchange NULLS LAST, member_id NULLS LAST, cause
        ) AS place
    FROM ordered
)
SELECT
    cluster,
    group_id,
    max(group_type) AS group_type,
    min(generation) AS first_generation,
    max(generation) AS last_generation,
    min(begin_ns) AS begin_ns,
    max(greatest(time_ns, coalesce(fetch_ns, time_ns))) AS end_ns,
    coalesce(min_by(cause, place) FILTER (WHERE is_move = 0), 'unknown') AS cause,
    -- min_by ignores nulls, and would take the value of another member.
    nullif(min_by(coalesce(member_id, ''), place) FILTER (WHERE is_move = 0), '') AS member_id,
    nullif(min_by(coalesce(client_id, ''), place) FILTER (WHERE is_move = 0), '') AS client_id,
    min_by(client_address, place) FILTER (WHERE is_move = 0) AS client_address,
    nullif(min_by(coalesce(reason, ''), place) FILTER (WHERE is_move = 0), '') AS reason,
    min_by(exchange, place) FILTER (WHERE is_move = 0) AS exchange,
    nullif(min_by(coalesce(unheard_ns, -1), place) FILTER (WHERE is_move = 0), -1) AS unheard_ns,
    count(*) FILTER (WHERE cause = 'joined') AS joined,
    count(*) FILTER (WHERE cause = 'left') AS left_members,
    count(*) FILTER (WHERE cause IN ('silent', 'connection_lost', 'unknown')) AS lost_members,
    CAST(sum(partitions) AS BIGINT) AS moved_partitions,
    max(pause_ns) AS pause_ns
FROM numbered
GROUP BY cluster, group_id, number
-- When the last members leave nothing moves: the end of a group is no rebalance.
HAVING sum(is_move) > 0
