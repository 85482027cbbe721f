-- Who writes to each topic, how much and in which batches? One row per topic and client. Bytes are of record batches on the
-- wire, rates per captured second; `record_bytes_mean` is bytes per record, `ratio` uncompressed to compressed bytes
-- of records in compressed batches (null: none, or none was opened), `errors` partitions refused; acks -1 is all. Null: not known.
SELECT
    w.cluster,
    w.topic,
    w.client_address,
    w.client_id,
    w.principal,
    count(*) AS partitions,
    CAST(sum(w.requests) AS BIGINT) AS requests,
    CAST(sum(w.errors) AS BIGINT) AS errors,
    CAST(sum(w.batches) AS BIGINT) AS batches,
    CAST(sum(w.records) AS BIGINT) AS records,
    CAST(sum(w.record_bytes) AS BIGINT) AS bytes,
    sum(w.records) * 1e9 / nullif(max(r.captured_ns), 0) AS records_per_s,
    sum(w.record_bytes) * 1e9 / nullif(max(r.captured_ns), 0) AS bytes_per_s,
    CASE WHEN sum(w.batches) > 0 THEN CAST(sum(w.records) AS DOUBLE) / sum(w.batches) END AS batch_records_mean,
    CASE WHEN sum(w.batches) > 0 THEN CAST(sum(w.record_bytes) AS DOUBLE) / sum(w.batches) END AS batch_bytes_mean,
    max(w.biggest_batch) AS biggest_batch_bytes,
    CASE WHEN sum(w.records) > 0 THEN CAST(sum(w.record_bytes) AS DOUBLE) / sum(w.records) END AS record_bytes_mean,
    CASE WHEN sum(w.opened_bytes) > 0
        THEN CAST(sum(w.uncompressed_bytes) AS DOUBLE) / sum(w.opened_bytes) END AS ratio,
    CAST(sum(w.plain_batches) AS BIGINT) AS plain_batches,
    CAST(sum(w.gzip_batches) AS BIGINT) AS gzip_batches,
    CAST(sum(w.snappy_batches) AS BIGINT) AS snappy_batches,
    CAST(sum(w.lz4_batches) AS BIGINT) AS lz4_batches,
    CAST(sum(w.zstd_batches) AS BIGINT) AS zstd_batches,
    min(w.least_acks) AS least_acks,
    max(w.most_acks) AS most_acks,
    coalesce(max(w.transactional_ids), 0) > 0 AS transactional,
    min(w.first_time_ns) AS first_time_ns,
    max(w.last_time_ns) AS last_time_ns
FROM partition_writers AS w CROSS JOIN time_range AS r
WHERE w.topic IS NOT NULL
GROUP BY w.cluster, w.topic, w.client_address, w.client_id, w.principal
ORDER BY w.topic, bytes DESC, w.client_id, w.client_address, w.principal, w.cluster
