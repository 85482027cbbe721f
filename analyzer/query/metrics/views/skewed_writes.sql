-- Partitions that get most of a topic, one row a partition.
-- Beyond 25 times the median one partition's broker and consumer have the topic to themselves: worth a look. The greatest writer is named.
-- Records without a key go batch by batch to one partition each: fewer than 30 batches say nothing about keys.
WITH written AS (
    SELECT c.cluster, w.topic, w.partition, CAST(sum(w.records) AS BIGINT) AS records, CAST(sum(w.batches) AS BIGINT) AS batches
    FROM written_sums AS w JOIN connections AS c ON c.connection = w.connection
    GROUP BY c.cluster, w.topic, w.partition
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
    SELECT w.cluster, w.topic, w.partition, w.records, m.median_records, m.partitions
    FROM written AS w JOIN middle AS m ON m.cluster IS NOT DISTINCT FROM w.cluster AND m.topic = w.topic
    WHERE m.partitions >= 3 AND w.records >= 1000 AND w.batches >= 30 AND w.records > 5 * m.median_records
),
writers AS (
    SELECT
        k.cluster,
        k.topic,
        k.partition,
        coalesce(nullif(w.client_id, ''), c.client_address) AS writer,
        CAST(sum(w.records) AS BIGINT) AS records
    FROM skewed AS k
    JOIN written_sums AS w ON w.topic = k.topic AND w.partition = k.partition
    JOIN connections AS c ON c.connection = w.connection AND c.cluster IS NOT DISTINCT FROM k.cluster
    GROUP BY k.cluster, k.topic, k.partition, coalesce(nullif(w.client_id, ''), c.client_address)
),
greatest_batches AS (
    SELECT k.cluster, k.topic, k.partition, max_by(p.exchange, (p.records, p.exchange)) AS exchange
    FROM skewed AS k
    JOIN produced AS p ON p.topic = k.topic AND p.partition = k.partition
    JOIN connections AS c ON c.connection = p.connection AND c.cluster IS NOT DISTINCT FROM k.cluster
    WHERE p.records IS NOT NULL
    GROUP BY k.cluster, k.topic, k.partition
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
    e.exchange AS evidence_greatest
FROM skewed AS k LEFT JOIN greatest_writers AS g
    ON g.cluster IS NOT DISTINCT FROM k.cluster AND g.topic = k.topic AND g.partition = k.partition
LEFT JOIN greatest_batches AS e
    ON e.cluster IS NOT DISTINCT FROM k.cluster AND e.topic = k.topic AND e.partition = k.partition
