-- Record batches with their offsets. A fetched batch has offsets of its own; those of produced batches begin at the base offset
-- that the reply gives for the partition, in the order of the request, as many for each batch as it has records.
WITH placed AS (
    SELECT
        b.*,
        l.connection,
        coalesce(b.topic_id, b.topic) AS written_to,
        coalesce(b.topic, n.topic) AS topic_name
    FROM raw_batches AS b
    JOIN connection_context AS l ON l.part = b.part
    LEFT JOIN (SELECT topic_id, min(topic) AS topic FROM topic_names GROUP BY topic_id) AS n ON n.topic_id = b.topic_id
    WHERE l.is_kafka
),
written AS (
    SELECT
        exchange,
        coalesce(topic_id, topic) AS written_to,
        partition,
        position,
        CASE WHEN magic = 2 THEN last_offset - base_offset + 1 ELSE records END AS offsets
    FROM raw_batches
    WHERE side = 'request'
),
counted AS (
    SELECT
        *,
        sum(offsets) OVER through AS offsets_through,
        count(offsets) OVER through AS offsets_known,
        count(*) OVER through AS batches_through
    FROM written
    WINDOW through AS (
        PARTITION BY exchange, written_to, partition ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
),
answers AS (
    SELECT e.exchange, coalesce(e.topic_id, e.topic) AS written_to, e.partition, min(e.offset) AS base_offset
    FROM raw_entries AS e
    JOIN (SELECT exchange FROM raw_batches WHERE side = 'request' GROUP BY exchange) AS w ON w.exchange = e.exchange
    WHERE e.side = 'response' AND e.offset >= 0 AND no_error(e.error_code)
    GROUP BY e.exchange, coalesce(e.topic_id, e.topic), e.partition
),
-- Grouped by what is its key, and joined last, so that an engine leaves it out for questions that do not read its columns.
stored AS (
    SELECT
        c.exchange,
        c.written_to,
        c.partition,
        c.position,
        CAST(min(a.base_offset + c.offsets_through - c.offsets) AS BIGINT) AS base_offset,
        CAST(min(a.base_offset + c.offsets_through - 1) AS BIGINT) AS last_offset
    FROM counted AS c
    JOIN answers AS a ON a.exchange = c.exchange AND a.written_to = c.written_to AND a.partition = c.partition
    WHERE c.offsets_known = c.batches_through
    GROUP BY c.exchange, c.written_to, c.partition, c.position
)
SELECT
    b.exchange,
    b.connection,
    b.side,
    b.topic_name AS topic,
    b.topic_id,
    b.partition,
    b.position,
    b.base_offset,
    b.last_offset,
    CASE WHEN b.side = 'response' THEN b.base_offset ELSE s.base_offset END AS stored_base_offset,
    CASE WHEN b.side = 'response' THEN b.last_offset ELSE s.last_offset END AS stored_last_offset,
    b.magic,
    b.codec,
    b.records,
    b.bytes,
    b.uncompressed_bytes,
    b.unopened,
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
FROM placed AS b
LEFT JOIN stored AS s
    ON s.exchange = b.exchange AND s.written_to = b.written_to AND s.partition = b.partition AND s.position = b.position
