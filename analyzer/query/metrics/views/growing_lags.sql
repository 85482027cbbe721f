-- Consumers that fall behind, one row a client and topic.
-- The last stretch in which the lag of a partition never fell, in steps of 10 s: at least 5 min, or 20 s up to the end. Where
-- records were cut off, the lag is that before them. Who fetches far ahead of its work has no lag but in what it commits (`sort`):
-- the last commit in each 5 s is held against the end that was told in the 5 s before, so that it is never too large, and 10 s up to
-- the end suffice; `last_lag` is that of metric lag then, and `first_lag` null.
WITH uncommitted AS (
    SELECT * FROM committed_offsets WHERE committed_lag >= 100
),
ends AS (
    SELECT
        u.cluster,
        u.group_id,
        u.topic,
        u.partition,
        CAST(floor(p.time_ns / 5e9) AS BIGINT) AS step,
        max(coalesce(p.new_end_offset, p.end_offset)) AS end_offset
    FROM fetch_positions AS p
        JOIN exchanges AS x ON x.exchange = p.exchange
        JOIN uncommitted AS u
            ON u.topic = coalesce(p.topic, p.topic_id) AND u.partition = p.partition
            AND CASE WHEN u.of_client THEN u.client_address = x.client_address AND u.client_id = coalesce(x.client_id, '')
                ELSE u.cluster = coalesce(p.cluster, '') END
    GROUP BY u.cluster, u.group_id, u.topic, u.partition, CAST(floor(p.time_ns / 5e9) AS BIGINT)
),
-- Each with its own entries first: groups of many partitions may commit one at a time.
said AS MATERIALIZED (
    SELECT x.connection, who(x) AS who, x.client_address, x.group_id, x.request_time_ns, x.exchange, e.topic, e.topic_id, e.partition, e.offset
    FROM exchanges AS x JOIN entries AS e ON e.exchange = x.exchange
    WHERE x.api_key IN (api('OffsetCommit', 'TxnOffsetCommit')) AND e.side = 'request' AND e.offset >= 0
        AND x.group_id IN (SELECT group_id FROM uncommitted)
),
commits AS (
    SELECT
        c.cluster,
        x.who,
        u.group_id,
        u.topic,
        u.partition,
        CAST(floor(x.request_time_ns / 5e9) AS BIGINT) AS step,
        max_by(x.offset, (x.request_time_ns, x.exchange)) AS committed_offset,
        min(x.request_time_ns) AS begin_ns,
        max(x.request_time_ns) AS time_ns,
        max_by(x.exchange, (x.request_time_ns, x.exchange)) AS exchange,
        max(u.committed_lag) AS committed_lag
    FROM said AS x
        JOIN connections AS c ON c.connection = x.connection
        JOIN uncommitted AS u
            ON u.client_address = x.client_address AND u.group_id = x.group_id AND u.cluster = coalesce(c.cluster, '')
            AND u.partition = x.partition AND u.topic = coalesce(x.topic, x.topic_id)
    GROUP BY c.cluster, x.who, u.group_id, u.topic, u.partition, CAST(floor(x.request_time_ns / 5e9) AS BIGINT)
),
steps AS (
    SELECT
        'fetched' AS sort,
        p.cluster,
        who(x) AS who,
        CAST(NULL AS STRING) AS group_id,
        coalesce(p.topic, p.topic_id) AS topic,
        p.partition,
        CAST(floor(p.time_ns / 1e10) AS BIGINT) AS step,
        max(coalesce(p.lag, p.new_end_offset - p.fetch_offset)) AS lag,
        min_by(coalesce(p.lag, p.new_end_offset - p.fetch_offset), (p.time_ns, p.exchange)) AS lag_before,
        min(p.time_ns) AS begin_ns,
        max(p.time_ns) AS time_ns,
        max_by(p.exchange, (p.time_ns, p.exchange)) AS exchange,
        CAST(NULL AS BIGINT) AS committed_offset,
        CAST(NULL AS BIGINT) AS committed_lag
    FROM fetch_positions AS p JOIN exchanges AS x ON x.exchange = p.exchange
    WHERE coalesce(p.lag, p.new_end_offset - p.fetch_offset) IS NOT NULL AND is_client(x.role)
    GROUP BY
        p.cluster, who(x), coalesce(p.topic, p.topic_id), p.partition,
        CAST(floor(p.time_ns / 1e10) AS BIGINT)
    UNION ALL
    SELECT
        'committed', k.cluster, k.who, k.group_id, k.topic, k.partition, k.step, greatest(e.end_offset - k.committed_offset, 0),
        greatest(e.end_offset - k.committed_offset, 0), k.begin_ns, k.time_ns, k.exchange, k.committed_offset, k.committed_lag
    FROM commits AS k
        JOIN ends AS e
            ON e.cluster = coalesce(k.cluster, '') AND e.group_id = k.group_id AND e.topic = k.topic AND e.partition = k.partition
            AND e.step = k.step - 1
),
compared AS (
    SELECT *, CASE WHEN lag < lag(lag) OVER following THEN 1 ELSE 0 END AS fell
    FROM steps
    WINDOW following AS (PARTITION BY sort, cluster, who, group_id, topic, partition ORDER BY step)
),
counted AS (
    SELECT
        *,
        sum(fell) OVER (PARTITION BY sort, cluster, who, group_id, topic, partition ORDER BY step) AS stretch,
        sum(fell) OVER (PARTITION BY sort, cluster, who, group_id, topic, partition) AS last_stretch
    FROM compared
),
stretches AS (
    SELECT
        sort,
        cluster,
        who,
        group_id,
        topic,
        partition,
        count(*) AS steps,
        min_by(lag_before, step) AS first_lag,
        max_by(lag, step) AS last_lag,
        max(committed_offset) - min(committed_offset) AS worked,
        max(committed_lag) AS committed_lag,
        min(begin_ns) AS first_time_ns,
        max(time_ns) AS last_time_ns,
        max_by(exchange, (step, exchange)) AS exchange
    FROM counted
    WHERE stretch = last_stretch
    GROUP BY sort, cluster, who, group_id, topic, partition
)
SELECT
    s.who,
    s.topic,
    s.sort,
    count(*) AS partitions,
    CASE WHEN s.sort = 'fetched' THEN TRY_CAST(sum(CAST(s.first_lag AS DECIMAL(38, 0))) AS BIGINT) END AS first_lag,
    TRY_CAST(sum(CAST(coalesce(s.committed_lag, s.last_lag) AS DECIMAL(38, 0))) AS BIGINT) AS last_lag,
    max(s.last_time_ns) - min(s.first_time_ns) AS lasted_ns,
    CAST(least(sum(CAST(s.last_lag AS DECIMAL(38, 0))), max_bigint()) AS BIGINT) AS weight,
    max_by(s.exchange, (s.last_lag, s.exchange)) AS evidence_worst,
    min(s.first_time_ns) AS first_time_ns,
    max(s.last_time_ns) AS last_time_ns
FROM stretches AS s CROSS JOIN time_range AS r
WHERE s.steps >= 3 AND s.last_lag >= 2 * s.first_lag
    -- Of what it commits, it works on less than half of what comes.
    AND s.last_lag - s.first_lag >= CASE s.sort WHEN 'fetched' THEN 1000 ELSE greatest(s.worked, 100) END
    AND (s.last_time_ns - s.first_time_ns >= s(300)
        OR (s.last_time_ns - s.first_time_ns >= CASE s.sort WHEN 'fetched' THEN s(20) ELSE s(10) END
            AND r.last_time_ns - s.last_time_ns <= s(10)))
GROUP BY s.cluster, s.who, s.group_id, s.topic, s.sort
-- Who falls behind with its fetches does so with its commits.
QUALIFY row_number() OVER (PARTITION BY s.cluster, s.who, s.topic ORDER BY s.sort DESC, sum(CAST(s.last_lag AS DECIMAL(38, 0))) DESC) = 1
