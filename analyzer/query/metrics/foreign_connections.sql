-- Which connections carried payload, but no Kafka that could be read? By client address, broker, what their content looks like
-- (`protocol`: tls, other) and how their TLS handshakes ended, the most frequent first; bytes are payload on the wire. The first bytes
-- of both sides (`client_begin`, `broker_begin`, in hex) are those of the first connection that has some.
SELECT
    client_address,
    broker_address,
    broker_port,
    protocol,
    tls_handshake,
    count(*) AS connections,
    CAST(sum(client_bytes) AS BIGINT) AS client_bytes,
    CAST(sum(broker_bytes) AS BIGINT) AS broker_bytes,
    min_by(client_begin, (first_time_ns, connection)) FILTER (WHERE client_begin IS NOT NULL) AS client_begin,
    min_by(broker_begin, (first_time_ns, connection)) FILTER (WHERE broker_begin IS NOT NULL) AS broker_begin,
    min(first_time_ns) AS first_time_ns,
    max(last_time_ns) AS last_time_ns,
    count(*) OVER () AS total_rows
FROM connections
WHERE is_kafka IS NOT TRUE AND protocol IN ('tls', 'other')
GROUP BY client_address, broker_address, broker_port, protocol, tls_handshake
ORDER BY connections DESC, client_address, broker_address, broker_port, protocol, tls_handshake
LIMIT 1000
