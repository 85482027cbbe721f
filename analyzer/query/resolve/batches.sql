-- Record batches with their offsets. A fetched batch has offsets of its own; those of produced batches begin at the base offset
-- that the reply gives for the partition, in the order of the request, as many for each batch as it has records.
WITH placed AS (
    SELECT
        b.*,
        l.connection,
        coalesce(b.topic_id, b.topic) AS written_to,
        CASE WHEN b.magic = 2 THEN b.last_offset - b.base_offset + 1 ELSE b.records END AS offsets
    FROM raw_batches AS b
    JOIN connection_context AS l ON l.part = b.part
    WHERE l.is_kafka
),
counted AS (
    SELECT
        placed.*,
        sum(offsets) OVER through AS offsets_through,
        count(offsets) OVER through AS offsets_known,
        count(*) OVER through AS batches_through
    FROM placed
    WINDOW through AS (
        PARTITION BY exchange, written_to, partition ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
),
answers AS (
    SELECT e.exchange, coalesce(e.topic_id, e.topic) AS written_to, e.partition, min(e.offset) AS base_offset
    FROM raw_entries AS e
    JOIN (SELECT exchange FROM raw_batches WHERE side = 'request' GROUP BY exchange) AS w ON w.exchange = e.exchange
    WHERE e.side = 'response' AND e.offset >= 0 AND coalesce(e.error_code, 0) = 0
    GROUP BY e.exchange, coalesce(e.topic_id, e.topic), e.partition
)
SELECT
    b.exchange,
    b.connection,
    b.side,
    coalesce(b.topic, n.topic) AS topic,
    b.topic_id,
    b.partition,
    b.position,
    b.base_offset,
    b.last_offset,
    CASE
        WHEN b.side = 'response' THEN b.base_offset
        WHEN b.offsets_known = b.batches_through THEN CAST(a.base_offset + b.offsets_through - b.offsets AS BIGINT)
    END AS stored_base_offset,
    CASE
        WHEN b.side = 'response' THEN b.last_offset
        WHEN b.offsets_known = b.batches_through THEN CAST(a.base_offset + b.offsets_through - 1 AS BIGINT)
    END AS stored_last_offset,
    b.magic,
    b.codec,
    b.records,
    b.bytes,
    b.uncompressed_bytes,
    b.first_timestamp_ms,
    b.max_timestamp_ms,
    b.timestamp_type,
    b.producer_id,
    b.producer_epoch,
    b.base_sequence,
    b.transactional,
    b.control,
    b.control_type,
    b.crc,
    b.crc_ok
FROM counted AS b
LEFT JOIN answers AS a ON a.exchange = b.exchange AND a.written_to = b.written_to AND a.partition = b.partition
LEFT JOIN topic_names AS n ON n.topic_id = b.topic_id
