-- Which topics carry most? The topics of metric topics, by fewer columns: those that are read of every capture, however large.
-- One row per topic, `written_` and `read_bytes` of records on the wire, with their rates per captured second; `lag` is the
-- greatest sum of last lags, in records, of a group or of a client without one. At most 20 rows of `total_rows`. Null: not seen.
WITH produced AS (
    SELECT
        e.connection, e.topic, e.topic_id, e.partition, x.client_address, x.client_id, x.principal,
        sum(CASE WHEN e.side = 'request' THEN e.record_bytes END) AS bytes
    FROM entries AS e JOIN exchanges AS x ON x.exchange = e.exchange
    WHERE x.api_key = api('Produce') AND is_client(x.role)
    GROUP BY e.connection, e.topic, e.topic_id, e.partition, x.client_address, x.client_id, x.principal
),
written AS (
    SELECT
        c.cluster,
        coalesce(p.topic, p.topic_id) AS topic,
        p.partition,
        concat(p.client_address, '|', coalesce(p.client_id, ''), '|', coalesce(p.principal, c.principal, '')) AS producer,
        CAST(NULL AS STRING) AS consumer,
        CAST(sum(p.bytes) AS BIGINT) AS written_bytes,
        CAST(NULL AS BIGINT) AS read_bytes
    FROM produced AS p JOIN connections AS c ON c.connection = p.connection
    GROUP BY
        c.cluster, coalesce(p.topic, p.topic_id), p.partition,
        concat(p.client_address, '|', coalesce(p.client_id, ''), '|', coalesce(p.principal, c.principal, ''))
),
used AS (
    SELECT * FROM written
    UNION ALL
    SELECT
        cluster,
        topic,
        partition,
        CAST(NULL AS STRING) AS producer,
        concat(client_address, '|', coalesce(client_id, ''), '|', coalesce(principal, '')) AS consumer,
        CAST(NULL AS BIGINT) AS written_bytes,
        record_bytes AS read_bytes
    FROM partition_readers
),
behind AS (
    SELECT cluster, topic, max(lag) AS lag
    FROM (
        SELECT cluster, topic, group_id, CASE WHEN group_id IS NULL THEN concat(client_address, '|', coalesce(client_id, '')) END AS lone,
            sum(CAST(last_lag AS DECIMAL(38, 0))) AS lag
        FROM partition_readers
        WHERE is_newest
        GROUP BY
            cluster, topic, group_id, CASE WHEN group_id IS NULL THEN concat(client_address, '|', coalesce(client_id, '')) END
    ) AS by_group
    GROUP BY cluster, topic
),
summed AS (
    SELECT
        cluster,
        topic,
        count(DISTINCT partition) AS partitions,
        count(DISTINCT producer) AS producers,
        count(DISTINCT consumer) AS consumers,
        CAST(sum(written_bytes) AS BIGINT) AS written_bytes,
        CAST(sum(read_bytes) AS BIGINT) AS read_bytes
    FROM used
    WHERE topic IS NOT NULL
    GROUP BY cluster, topic
)
SELECT
    s.cluster,
    s.topic,
    s.partitions,
    s.producers,
    s.consumers,
    s.written_bytes,
    s.written_bytes * 1e9 / nullif(r.captured_ns, 0) AS written_bytes_per_s,
    s.read_bytes,
    s.read_bytes * 1e9 / nullif(r.captured_ns, 0) AS read_bytes_per_s,
    TRY_CAST(b.lag AS BIGINT) AS lag,
    count(*) OVER () AS total_rows
FROM summed AS s
    LEFT JOIN behind AS b ON b.topic = s.topic AND coalesce(b.cluster, '') = coalesce(s.cluster, '')
    CROSS JOIN time_range AS r
ORDER BY coalesce(s.written_bytes, 0) + coalesce(s.read_bytes, 0) DESC, s.topic IS NULL, s.topic, s.cluster
LIMIT 20
