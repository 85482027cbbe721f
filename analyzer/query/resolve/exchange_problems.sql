-- Problems of exchanges: malformed bodies, bodies of versions that nobody knows here, replies with bytes left over, and clocks that ran
-- back within an exchange. Of a request with bytes left over nothing is lost.
SELECT
    CASE WHEN request_decoded = 'malformed' THEN request_file ELSE response_file END AS file,
    CASE WHEN request_decoded = 'malformed' THEN request_packet ELSE response_packet END AS packet,
    connection,
    exchange,
    CASE WHEN request_decoded = 'malformed' THEN request_time_ns ELSE response_time_ns END AS time_ns,
    CASE WHEN request_decoded = 'malformed' THEN 'client' ELSE 'broker' END AS side,
    CAST(NULL AS BIGINT) AS offset,
    'malformed_body' AS kind,
    CAST(NULL AS BIGINT) AS bytes_lost,
    CASE WHEN request_decoded = 'malformed'
        THEN 'The body of a request does not match its API and version; kanalyze show shows where decoding fails.'
        ELSE 'The body of a reply does not match its API and version; kanalyze show shows where decoding fails.' END AS detail
FROM all_exchanges
WHERE request_decoded = 'malformed' OR response_decoded = 'malformed'
UNION ALL
SELECT
    CASE WHEN request_decoded = 'unsupported' THEN request_file ELSE response_file END,
    CASE WHEN request_decoded = 'unsupported' THEN request_packet ELSE response_packet END,
    connection,
    exchange,
    CASE WHEN request_decoded = 'unsupported' THEN request_time_ns ELSE response_time_ns END,
    CASE WHEN request_decoded = 'unsupported' THEN 'client' ELSE 'broker' END,
    CAST(NULL AS BIGINT),
    'newer_than_known',
    CAST(NULL AS BIGINT),
    'The API or its version is newer than this release of kanalyze knows: little more than the header was read.'
FROM all_exchanges
WHERE request_decoded = 'unsupported' OR response_decoded = 'unsupported'
UNION ALL
SELECT
    response_file, response_packet, connection, exchange, response_time_ns, 'broker', CAST(NULL AS BIGINT),
    'bytes_left_over', CAST(NULL AS BIGINT),
    'The body of a reply is longer than its API and version say: only what is certain was read.'
FROM all_exchanges
WHERE response_decoded = 'trailing'
UNION ALL
SELECT
    coalesce(response_file, request_file), coalesce(response_packet, request_packet), connection, exchange,
    coalesce(response_time_ns, request_time_ns), CAST(NULL AS STRING), CAST(NULL AS BIGINT),
    'clock_ran_back', CAST(NULL AS BIGINT),
    'A later packet has an earlier timestamp; the duration between them is null.'
FROM all_exchanges
WHERE request_end_ns < request_time_ns OR response_time_ns < request_end_ns OR response_end_ns < response_time_ns
