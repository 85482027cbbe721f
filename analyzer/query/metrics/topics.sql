-- Which topics are used, by how many, and how much? One row per topic. Bytes are of records on the wire: `written_` what
-- producers sent, `read_` what consumers got (each counts); rates per captured second. `lag` is the greatest sum of
-- last lags, in records, that one group (or client without a group) has over its partitions. Null: not known or not seen.
WITH writers AS (
    SELECT
        cluster,
        topic,
        count(DISTINCT concat(client_address, '|', coalesce(client_id, ''), '|', coalesce(principal, ''))) AS producers,
        CAST(sum(requests) AS BIGINT) AS requests,
        CAST(sum(records) AS BIGINT) AS records,
        CAST(sum(record_bytes) AS BIGINT) AS bytes,
        CAST(sum(batches) AS BIGINT) AS batches,
        CAST(sum(errors) AS BIGINT) AS errors,
        CAST(sum(opened_bytes) AS BIGINT) AS opened_bytes,
        CAST(sum(uncompressed_bytes) AS BIGINT) AS uncompressed_bytes,
        CAST(sum(plain_batches) AS BIGINT) AS plain_batches,
        CAST(sum(gzip_batches) AS BIGINT) AS gzip_batches,
        CAST(sum(snappy_batches) AS BIGINT) AS snappy_batches,
        CAST(sum(lz4_batches) AS BIGINT) AS lz4_batches,
        CAST(sum(zstd_batches) AS BIGINT) AS zstd_batches
    FROM partition_writers
    GROUP BY cluster, topic
),
reading AS (
    SELECT
        cluster,
        topic,
        way,
        client_address,
        client_id,
        principal,
        group_id,
        sum(record_bytes) AS bytes
    FROM partition_readers
    GROUP BY cluster, topic, way, client_address, client_id, principal, group_id
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
readers AS (
    SELECT
        cluster,
        topic,
        count(DISTINCT concat(client_address, '|', coalesce(client_id, ''), '|', coalesce(principal, ''))) AS consumers,
        count(DISTINCT group_id) AS groups,
        CAST(sum(bytes) AS BIGINT) AS bytes
    FROM reading
    GROUP BY cluster, topic
),
partitions AS (
    SELECT cluster, topic, count(DISTINCT partition) AS partitions
    FROM (
        SELECT cluster, topic, partition FROM partition_writers
        UNION ALL
        SELECT cluster, topic, partition FROM partition_readers
    ) AS every_partition
    GROUP BY cluster, topic
)
SELECT
    p.cluster,
    p.topic,
    p.partitions,
    coalesce(w.producers, 0) AS producers,
    coalesce(c.consumers, 0) AS consumers,
    coalesce(c.groups, 0) AS groups,
    w.requests AS produce_requests,
    w.errors AS produce_errors,
    w.batches AS written_batches,
    w.records AS written_records,
    w.bytes AS written_bytes,
    w.records * 1e9 / nullif(r.captured_ns, 0) AS written_records_per_s,
    w.bytes * 1e9 / nullif(r.captured_ns, 0) AS written_bytes_per_s,
    c.bytes AS read_bytes,
    c.bytes * 1e9 / nullif(r.captured_ns, 0) AS read_bytes_per_s,
    CASE WHEN w.batches > 0 THEN CAST(w.records AS DOUBLE) / w.batches END AS batch_records_mean,
    CASE WHEN w.batches > 0 THEN CAST(w.bytes AS DOUBLE) / w.batches END AS batch_bytes_mean,
    CASE WHEN w.records > 0 THEN CAST(w.bytes AS DOUBLE) / w.records END AS record_bytes_mean,
    CASE WHEN w.opened_bytes > 0 THEN CAST(w.uncompressed_bytes AS DOUBLE) / w.opened_bytes END AS ratio,
    w.plain_batches,
    w.gzip_batches,
    w.snappy_batches,
    w.lz4_batches,
    w.zstd_batches,
    TRY_CAST(b.lag AS BIGINT) AS lag
FROM partitions AS p
    LEFT JOIN writers AS w ON w.topic = p.topic AND coalesce(w.cluster, '') = coalesce(p.cluster, '')
    LEFT JOIN readers AS c ON c.topic = p.topic AND coalesce(c.cluster, '') = coalesce(p.cluster, '')
    LEFT JOIN behind AS b ON b.topic = p.topic AND coalesce(b.cluster, '') = coalesce(p.cluster, '')
    CROSS JOIN time_range AS r
    CROSS JOIN settings AS wish
WHERE p.topic IS NOT NULL
ORDER BY
    CASE wish.sort
        WHEN 'written' THEN w.bytes WHEN 'read' THEN c.bytes WHEN 'lag' THEN b.lag WHEN 'errors' THEN w.errors
        ELSE coalesce(w.bytes, 0) + coalesce(c.bytes, 0)
    END DESC NULLS LAST,
    coalesce(w.bytes, 0) + coalesce(c.bytes, 0) DESC, p.topic, p.cluster
