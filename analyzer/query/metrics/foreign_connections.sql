-- Which connections carried payload, but no Kafka that could be read? By client address, broker, what their content looks like
-- (`protocol`: tls, other) and how their TLS handshakes ended, the most frequent first; bytes are payload on the wire.
SELECT
    client_address,
    broker_address,
    broker_port,
    protocol,
    tls_handshake,
    count(*) AS connections,
    CAST(sum(client_bytes) AS BIGINT) AS client_bytes,
    CAST(sum(broker_bytes) AS BIGINT) AS broker_bytes,
    min(first_time_ns) AS first_time_ns,
    max(last_time_ns) AS last_time_ns,
    count(*) OVER () AS total_rows
FROM connections
WHERE is_kafka IS NOT TRUE AND protocol IN ('tls', 'other')
GROUP BY client_address, broker_address, broker_port, protocol, tls_handshake
ORDER BY connections DESC, client_address, broker_address, broker_port, protocol, tls_handshake
LIMIT 1000
