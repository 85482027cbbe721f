-- What could not be read: in files, in streams and frames of Kafka connections, and in bodies.
SELECT
    s.file,
    r.packet_number + s.packets_before AS packet,
    p.connection,
    CAST(NULL AS BIGINT) AS exchange,
    r.time_ns,
    CASE WHEN r.side = p.client_side THEN 'client' ELSE 'broker' END AS side,
    r.offset,
    k.kind,
    r.bytes_lost,
    k.detail
FROM raw_problems AS r
JOIN parts AS p ON p.part = r.part
LEFT JOIN raw_splits AS s ON s.split = r.packet_split
JOIN problem_kinds AS k ON k.number = r.kind
WHERE p.is_kafka
UNION ALL
SELECT n.file, n.packet, NULL, NULL, n.time_ns, NULL, n.offset, n.kind, n.bytes_lost, n.detail
FROM raw_notes AS n
UNION ALL
-- Both times of a jump, at the packet behind it.
SELECT j.file, j.packet, NULL, NULL, j.before_ns, NULL, NULL, 'clock_jumped', NULL,
    concat('The time jumps ', CASE WHEN j.after_ns < j.before_ns THEN 'back' ELSE 'ahead' END,
        ' before this packet: what lasts from before to behind has no duration.')
FROM raw_jumps AS j
UNION ALL
SELECT j.file, j.packet, NULL, NULL, j.after_ns, NULL, NULL, 'clock_jumped_to', NULL, 'The time at this packet, behind a jump.'
FROM raw_jumps AS j
UNION ALL
SELECT c.file, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), c.first_time_ns, CAST(NULL AS STRING),
    CAST(NULL AS BIGINT), 'snap_length', CAST(NULL AS BIGINT),
    concat('Only the first ', CAST(c.snap_bytes AS STRING),
        ' bytes of each packet were captured: bodies are truncated. Capture with -s 0 to read them.')
FROM all_captures AS c
CROSS JOIN (SELECT sum(client_cut_bytes + broker_cut_bytes) AS cut_bytes FROM parts WHERE is_kafka) AS whole
WHERE c.snap_bytes IS NOT NULL AND whole.cut_bytes > 0
UNION ALL
SELECT o.file, o.packet, o.connection, o.exchange, o.time_ns, o.side, o.offset, o.kind, o.bytes_lost, o.detail
FROM exchange_problems AS o
