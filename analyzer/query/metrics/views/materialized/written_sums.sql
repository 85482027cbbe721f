-- What was produced: sums of `produced` by connection, client and partition, of plain batches and others, of those with a sequence and
-- others.
SELECT
    connection,
    client_id,
    topic,
    partition,
    is_plain,
    producer_id >= 0 AND base_sequence >= 0 AS is_sequenced,
    count(*) AS batches,
    CAST(sum(records) AS BIGINT) AS records,
    CAST(sum(bytes) AS BIGINT) AS bytes,
    max(bytes) AS greatest_bytes,
    min(request_time_ns) AS first_time_ns,
    max(request_time_ns) AS last_time_ns
FROM produced
GROUP BY connection, client_id, topic, partition, is_plain, producer_id >= 0 AND base_sequence >= 0
