-- What happens in each partition of a topic? Bytes are of records on the wire, `written_` what producers sent, `read_` what
-- consumers got (each consumer counts); `last_end` is the newest end that a reply told. Null: not seen.
WITH both_ways AS (
    SELECT
        cluster, topic, partition, 1 AS producers, 0 AS consumers, records AS written_records, record_bytes AS written_bytes,
        errors, NULL AS read_bytes, NULL AS last_end, NULL AS lag
    FROM partition_writers
    UNION ALL
    SELECT
        cluster, topic, partition, 0, 1, NULL, NULL, 0, record_bytes, last_end, last_lag
    FROM partition_readers
)
SELECT
    cluster,
    topic,
    partition,
    CAST(sum(producers) AS BIGINT) AS producers,
    CAST(sum(consumers) AS BIGINT) AS consumers,
    CAST(sum(written_records) AS BIGINT) AS written_records,
    CAST(sum(written_bytes) AS BIGINT) AS written_bytes,
    CAST(sum(errors) AS BIGINT) AS errors,
    CAST(sum(read_bytes) AS BIGINT) AS read_bytes,
    CAST(max(last_end) AS BIGINT) AS last_end,
    CAST(max(lag) AS BIGINT) AS worst_lag
FROM both_ways
WHERE topic IS NOT NULL
GROUP BY cluster, topic, partition
ORDER BY topic, partition, cluster
