-- Record batches with their offsets. A fetched batch has offsets of its own, a produced one those of `stored_batches`.
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
LEFT JOIN stored_batches AS s
    ON s.exchange = b.exchange AND s.written_to = b.written_to AND s.partition = b.partition AND s.position = b.position
