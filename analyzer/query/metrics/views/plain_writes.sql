-- Producers that write much without compression, one row a client and topic.
-- From 1 MB/s on, of at least 30 batches.
WITH sent AS (
    SELECT
        who(s) AS who,
        s.topic,
        CAST(sum(s.bytes) AS BIGINT) AS written_bytes,
        sum(s.bytes) * 1e9 / nullif(max(s.last_time_ns) - min(s.first_time_ns), 0) AS written_bytes_per_s,
        max(s.greatest_bytes) AS greatest_bytes,
        min(s.first_time_ns) AS first_time_ns,
        max(s.last_time_ns) AS last_time_ns
    FROM (
        SELECT w.*, c.client_address
        FROM written_sums AS w JOIN connections AS c ON c.connection = w.connection
        WHERE w.is_plain AND is_client(c.role)
    ) AS s
    GROUP BY who(s), s.topic
    HAVING sum(s.batches) >= 30
        AND sum(s.bytes) * 1e9 / nullif(max(s.last_time_ns) - min(s.first_time_ns), 0) >= mb(1)
)
SELECT
    s.who,
    s.topic,
    s.written_bytes,
    s.written_bytes_per_s,
    s.written_bytes AS weight,
    max(p.exchange) AS evidence_greatest,
    s.first_time_ns,
    s.last_time_ns
FROM sent AS s
JOIN (
    SELECT b.exchange, b.topic, b.bytes, b.client_id, c.client_address
    FROM produced AS b JOIN connections AS c ON c.connection = b.connection
    WHERE b.is_plain AND is_client(c.role)
) AS p ON p.topic = s.topic AND p.bytes = s.greatest_bytes AND who(p) = s.who
GROUP BY s.who, s.topic, s.written_bytes, s.written_bytes_per_s, s.first_time_ns, s.last_time_ns
