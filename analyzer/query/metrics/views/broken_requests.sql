-- Which clients send bytes that are no request? One row per client and broker: `lost_bytes` on `connections`, the first
-- at `packet`, where the frame before it (`frame_bytes`) was to have ended;
-- `cut_bytes` are those of a frame that was answered with CORRUPT_MESSAGE, so that it holds the beginning of another one.
-- Every byte of the client is in the capture, and connection and messages are Kafka: so it is the client that wrote them, as when it
-- gives up in the middle of a request and writes the next one there.
WITH breaks AS (
    SELECT
        p.connection,
        c.client_address,
        c.broker_address,
        c.broker_port,
        c.closed_by,
        c.client_skipped_malformed_bytes AS lost_bytes,
        min(p.time_ns) AS time_ns,
        min_by(p.packet, (p.time_ns, p.packet)) AS packet,
        min_by(p.file, (p.time_ns, p.packet)) AS file
    FROM problems AS p JOIN connections AS c ON c.connection = p.connection
    WHERE p.kind = 'impossible_length' AND p.side = 'client' AND c.is_kafka AND c.replies > 0 AND c.client_gaps = 0
        AND c.client_cut_bytes = 0 AND c.client_damaged = 0 AND c.client_conflicts = 0 AND c.seen_from = 'syn'
        AND c.forwarded_from IS NULL AND coalesce(c.tls, false) = false
    GROUP BY p.connection, c.client_address, c.broker_address, c.broker_port, c.closed_by, c.client_skipped_malformed_bytes
),
-- The last frame before them, which took the beginning of what follows for its own content.
frames AS (
    SELECT
        b.connection,
        max_by(x.exchange, (x.request_time_ns, x.exchange)) AS exchange,
        max_by(x.client_id, (x.request_time_ns, x.exchange)) AS client_id,
        max_by(x.api_name, (x.request_time_ns, x.exchange)) AS api_name,
        max_by(x.request_bytes, (x.request_time_ns, x.exchange)) AS frame_bytes,
        max_by(x.request_packet, (x.request_time_ns, x.exchange)) AS frame_packet
    FROM breaks AS b JOIN exchanges AS x ON x.connection = b.connection
    WHERE x.request_time_ns <= b.time_ns
    GROUP BY b.connection
)
SELECT
    coalesce(f.client_id, b.client_address) AS who,
    b.client_address,
    b.broker_address || ':' || CAST(b.broker_port AS STRING) AS broker,
    f.api_name,
    min_by(f.frame_bytes, (b.time_ns, b.connection)) AS frame_bytes,
    min_by(f.frame_packet, (b.time_ns, b.connection)) AS frame_packet,
    min_by(b.packet, (b.time_ns, b.connection)) AS packet,
    CAST(sum(b.lost_bytes) AS BIGINT) AS lost_bytes,
    count(*) AS connections,
    nullif(count(*) FILTER (WHERE b.closed_by = 'broker'), 0) AS closed,
    min_by(CASE WHEN e.exchange IS NOT NULL THEN f.frame_bytes END, (b.time_ns, b.connection))
        FILTER (WHERE e.exchange IS NOT NULL) AS cut_bytes,
    count(*) AS weight,
    min_by(b.connection, (b.time_ns, b.connection)) AS connection,
    min_by(f.exchange, (b.time_ns, b.connection)) AS evidence_first,
    max_by(f.exchange, (b.time_ns, b.connection)) AS evidence_last,
    min(b.time_ns) AS first_time_ns,
    max(b.time_ns) AS last_time_ns
FROM breaks AS b
JOIN frames AS f ON f.connection = b.connection
LEFT JOIN (SELECT exchange FROM errors WHERE code = error('CORRUPT_MESSAGE') GROUP BY exchange) AS e ON e.exchange = f.exchange
GROUP BY f.client_id, b.client_address, b.broker_address, b.broker_port, f.api_name
