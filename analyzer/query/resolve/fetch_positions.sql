-- Partitions that a consumer's Fetch names, with position, end and lag. A Fetch of a session names only what changed.
SELECT
    s.exchange,
    l.connection,
    l.cluster,
    coalesce(s.response_time_ns, s.asked_ns) AS time_ns,
    coalesce(s.topic, n.topic) AS topic,
    s.topic_id,
    s.partition,
    s.fetch_offset,
    s.end_offset,
    s.told_end AS new_end_offset,
    s.next_offset,
    s.record_bytes,
    CASE WHEN s.next_offset IS NOT NULL AND s.newest_end IS NOT NULL THEN greatest(s.newest_end - s.next_offset, 0) END AS lag,
    s.fetch_offset < s.end_offset AS behind,
    s.session_id <> 0 AND o.opened = 0 AS partial
FROM (
    SELECT
        *,
        -- After records that could not be read the position is unknown; a reply without records does not change it.
        CASE WHEN response_time_ns IS NOT NULL THEN coalesce(told_next, CASE WHEN coalesce(record_bytes, 0) = 0 THEN fetch_offset END) END
            AS next_offset
    FROM fetch_steps
) AS s
JOIN connection_context AS l ON l.part = s.part
LEFT JOIN topic_names AS n ON n.topic_id = s.topic_id
LEFT JOIN (
    SELECT session_at, session_id, max(CASE WHEN session_epoch = 0 THEN 1 ELSE 0 END) AS opened
    FROM fetch_steps
    WHERE forgotten = 0
    GROUP BY session_at, session_id
) AS o ON o.session_at = s.session_at AND o.session_id = s.session_id
WHERE s.forgotten = 0
