-- Consumers that fall behind, one row a client and topic.
-- The last stretch in which the lag of a partition never fell, in steps of 10 s: at least 5 min, or 20 s up to the end. Where
-- records were cut off, the lag is that before them.
WITH steps AS (
    SELECT
        p.cluster,
        who(x) AS who,
        coalesce(p.topic, p.topic_id) AS topic,
        p.partition,
        CAST(floor(p.time_ns / 1e10) AS BIGINT) AS step,
        max(coalesce(p.lag, p.new_end_offset - p.fetch_offset)) AS lag,
        min_by(coalesce(p.lag, p.new_end_offset - p.fetch_offset), (p.time_ns, p.exchange)) AS lag_before,
        min(p.time_ns) AS begin_ns,
        max(p.time_ns) AS time_ns,
        max_by(p.exchange, (p.time_ns, p.exchange)) AS exchange
    FROM fetch_positions AS p JOIN exchanges AS x ON x.exchange = p.exchange
    WHERE coalesce(p.lag, p.new_end_offset - p.fetch_offset) IS NOT NULL AND is_client(x.role)
    GROUP BY
        p.cluster, who(x), coalesce(p.topic, p.topic_id), p.partition,
        CAST(floor(p.time_ns / 1e10) AS BIGINT)
),
compared AS (
    SELECT *, CASE WHEN lag < lag(lag) OVER following THEN 1 ELSE 0 END AS fell
    FROM steps
    WINDOW following AS (PARTITION BY cluster, who, topic, partition ORDER BY step)
),
counted AS (
    SELECT
        *,
        sum(fell) OVER (PARTITION BY cluster, who, topic, partition ORDER BY step) AS stretch,
        sum(fell) OVER (PARTITION BY cluster, who, topic, partition) AS last_stretch
    FROM compared
),
stretches AS (
    SELECT
        cluster,
        who,
        topic,
        partition,
        count(*) AS steps,
        min_by(lag_before, step) AS first_lag,
        max_by(lag, step) AS last_lag,
        min(begin_ns) AS first_time_ns,
        max(time_ns) AS last_time_ns,
        max_by(exchange, (step, exchange)) AS exchange
    FROM counted
    WHERE stretch = last_stretch
    GROUP BY cluster, who, topic, partition
)
SELECT
    s.who,
    s.topic,
    count(*) AS partitions,
    TRY_CAST(sum(CAST(s.first_lag AS DECIMAL(38, 0))) AS BIGINT) AS first_lag,
    TRY_CAST(sum(CAST(s.last_lag AS DECIMAL(38, 0))) AS BIGINT) AS last_lag,
    max(s.last_time_ns) - min(s.first_time_ns) AS lasted_ns,
    CAST(least(sum(CAST(s.last_lag AS DECIMAL(38, 0))), max_bigint()) AS BIGINT) AS weight,
    max_by(s.exchange, (s.last_lag, s.exchange)) AS evidence_worst,
    min(s.first_time_ns) AS first_time_ns,
    max(s.last_time_ns) AS last_time_ns
FROM stretches AS s CROSS JOIN time_range AS r
WHERE s.steps >= 3 AND s.last_lag >= 2 * s.first_lag AND s.last_lag >= s.first_lag + 1000
    AND (s.last_time_ns - s.first_time_ns >= s(300)
        OR (s.last_time_ns - s.first_time_ns >= s(20) AND r.last_time_ns - s.last_time_ns <= s(10)))
GROUP BY s.cluster, s.who, s.topic
