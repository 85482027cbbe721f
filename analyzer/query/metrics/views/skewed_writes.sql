-- Partitions that get most of a topic, one row a partition.
-- Beyond 25 times the median one partition's broker and consumer have the topic to themselves: worth a look. The greatest writer is named.
WITH sent AS (
    SELECT
        connection,
        coalesce(topic, topic_id) AS topic,
        partition,
        sum(records) AS records,
        max(records) AS greatest,
        max_by(exchange, (records, exchange)) FILTER (WHERE records IS NOT NULL) AS exchange
    FROM batches
    WHERE side = 'request'
    GROUP BY connection, coalesce(topic, topic_id), partition
),
written AS (
    SELECT
        c.cluster,
        s.topic,
        s.partition,
        CAST(sum(s.records) AS BIGINT) AS records,
        max_by(s.exchange, (s.greatest, s.exchange)) FILTER (WHERE s.exchange IS NOT NULL) AS evidence_greatest
    FROM sent AS s JOIN connections AS c ON c.connection = s.connection
    GROUP BY c.cluster, s.topic, s.partition
),
middle AS (
    SELECT
        cluster,
        topic,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY records) AS median_records,
        count(*) AS partitions
    FROM written
    GROUP BY cluster, topic
),
skewed AS (
    SELECT w.cluster, w.topic, w.partition, w.records, w.evidence_greatest, m.median_records, m.partitions
    FROM written AS w JOIN middle AS m ON m.cluster IS NOT DISTINCT FROM w.cluster AND m.topic = w.topic
    WHERE m.partitions >= 3 AND w.records >= 1000 AND w.records > 5 * m.median_records
),
-- Who wrote to them: each connection by one of its requests.
writers AS (
    SELECT
        k.cluster,
        k.topic,
        k.partition,
        who(x) AS writer,
        CAST(sum(s.records) AS BIGINT) AS records
    FROM skewed AS k
    JOIN sent AS s ON s.topic = k.topic AND s.partition = k.partition
    JOIN connections AS c ON c.connection = s.connection AND c.cluster IS NOT DISTINCT FROM k.cluster
    JOIN exchanges AS x ON x.exchange = s.exchange
    GROUP BY k.cluster, k.topic, k.partition, who(x)
),
greatest_writers AS (
    SELECT
        cluster,
        topic,
        partition,
        max_by(writer, (records, writer)) AS writer,
        max(records) AS records
    FROM writers
    GROUP BY cluster, topic, partition
)
SELECT
    k.topic,
    k.partition,
    k.records,
    k.partitions,
    k.records / nullif(k.median_records, 0) AS times_median,
    g.writer,
    CAST(g.records AS DOUBLE) / k.records AS writer_share,
    CASE WHEN k.records > 25 * k.median_records THEN 'medium' ELSE 'info' END AS severity,
    k.records AS weight,
    k.evidence_greatest
FROM skewed AS k LEFT JOIN greatest_writers AS g
    ON g.cluster IS NOT DISTINCT FROM k.cluster AND g.topic = k.topic AND g.partition = k.partition
