-- Partitions that get most of a topic, one row a partition.
-- Beyond 25 times the median one partition's broker and consumer have the topic to themselves: worth a look. The greatest writer is named.
-- Records without a key go batch by batch to one partition each: fewer than 30 batches say nothing about keys.
-- Where packets are cut, no batch of a topic is read, but how many bytes the first partition of a request gets may be: 500 requests tell it
-- beyond 25 times, if what is read of a topic is three quarters of its requests, so that they have no other partition.
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
),
cut AS (
    SELECT
        c.cluster,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        count(*) AS requests,
        CAST(sum(e.record_bytes) AS BIGINT) AS written_bytes,
        sum(x.request_bytes) AS request_bytes,
        min(who(x)) AS least_who,
        max(who(x)) AS who,
        max_by(e.exchange, (e.record_bytes, e.exchange)) AS exchange
    FROM entries AS e
    JOIN exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = e.connection
    WHERE x.api_key = api('Produce') AND x.request_decoded = 'truncated' AND e.side = 'request' AND e.record_bytes > 0
        AND coalesce(e.topic, e.topic_id) NOT IN (SELECT topic FROM written)
    GROUP BY c.cluster, coalesce(e.topic, e.topic_id), e.partition
),
cut_topics AS (
    SELECT
        cluster, topic, count(*) AS partitions,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY written_bytes) AS median_bytes
    FROM cut
    GROUP BY cluster, topic
    HAVING count(*) >= 3 AND sum(written_bytes) >= 0.75 * sum(request_bytes)
)
SELECT
    k.topic,
    k.partition,
    k.records,
    CAST(NULL AS BIGINT) AS written_bytes,
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
UNION ALL
SELECT
    k.topic,
    k.partition,
    NULL,
    k.written_bytes,
    m.partitions,
    k.written_bytes / nullif(m.median_bytes, 0),
    CASE WHEN k.least_who = k.who THEN k.who END,
    1.0,
    'medium',
    k.requests,
    k.exchange
FROM cut AS k JOIN cut_topics AS m ON m.cluster IS NOT DISTINCT FROM k.cluster AND m.topic = k.topic
WHERE k.requests >= 500 AND k.written_bytes > 25 * m.median_bytes
