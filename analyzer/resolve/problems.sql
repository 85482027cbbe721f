-- What could not be read: in files, in streams and frames of Kafka connections, and in bodies.
SELECT
    s.file,
    r.packet_number + s.packets_before AS packet,
    p.connection,
    CAST(NULL AS BIGINT) AS exchange,
    r.time_ns,
    CASE WHEN r.side = p.client_side THEN 'client' ELSE 'broker' END AS side,
    r."offset",
    k.kind,
    r.bytes_lost,
    k.detail
FROM raw_problems AS r
JOIN parts AS p ON p.part = r.part
LEFT JOIN raw_splits AS s ON s.split = r.packet_split
JOIN problem_kinds AS k ON k.number = r.kind
WHERE p.is_kafka
UNION ALL
SELECT file, packet, NULL, NULL, time_ns, NULL, "offset", kind, bytes_lost, detail
FROM raw_notes
UNION ALL
SELECT
    CASE WHEN request_decoded = 'malformed' THEN request_file ELSE response_file END,
    CASE WHEN request_decoded = 'malformed' THEN request_packet ELSE response_packet END,
    connection,
    exchange,
    CASE WHEN request_decoded = 'malformed' THEN request_time_ns ELSE response_time_ns END,
    CASE WHEN request_decoded = 'malformed' THEN 'client' ELSE 'broker' END,
    CAST(NULL AS BIGINT),
    'malformed_body',
    CAST(NULL AS BIGINT),
    CASE WHEN request_decoded = 'malformed'
        THEN 'The body of a request does not fit its API and version; kanalyze show tells where it stops making sense.'
        ELSE 'The body of a reply does not fit its API and version; kanalyze show tells where it stops making sense.' END
FROM all_exchanges
WHERE request_decoded = 'malformed' OR response_decoded = 'malformed'
UNION ALL
SELECT
    coalesce(response_file, request_file), coalesce(response_packet, request_packet), connection, exchange,
    coalesce(response_time_ns, request_time_ns), CAST(NULL AS VARCHAR), CAST(NULL AS BIGINT),
    'clock_ran_back', CAST(NULL AS BIGINT),
    'A later packet has an earlier time; the duration between them is null.'
FROM all_exchanges
WHERE request_end_ns < request_time_ns OR response_time_ns < request_end_ns OR response_end_ns < response_time_ns
