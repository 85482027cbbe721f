-- Topic-partitions of requests and replies, with their connection.
SELECT
    e.exchange,
    l.connection,
    e.side,
    coalesce(e.topic, n.topic) AS topic,
    e.topic_id,
    e.partition,
    e.error_code,
    e.offset,
    e.high_watermark,
    e.last_stable_offset,
    e.log_start_offset,
    e.record_bytes,
    e.leader_epoch,
    e.forgotten,
    e.preferred_read_replica,
    CASE WHEN e.side = 'response' THEN e.next_offset END AS next_offset,
    e.timestamp_ms
FROM raw_entries AS e
JOIN connection_context AS l ON l.part = e.part
LEFT JOIN topic_names AS n ON n.topic_id = e.topic_id
WHERE l.is_kafka
