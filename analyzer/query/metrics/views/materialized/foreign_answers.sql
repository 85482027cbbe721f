-- Endpoints that answer requests of Kafka in another protocol, one row a client and endpoint: `speaks` is what their first bytes are.
SELECT
    c.client_address,
    c.broker_address || ':' || CAST(c.broker_port AS STRING) AS broker,
    coalesce(min(t.client_id), c.client_address) AS who,
    CASE c.broker_speaks WHEN 'http' THEN 'HTTP' WHEN 'ssh' THEN 'SSH' ELSE 'text of another protocol' END AS speaks,
    count(*) AS times,
    count(*) AS weight,
    min_by(t.exchange, (c.first_time_ns, c.connection)) AS evidence_first,
    min_by(c.connection, (c.first_time_ns, c.connection)) AS connection,
    min(c.first_time_ns) AS first_time_ns,
    max(c.last_time_ns) AS last_time_ns
FROM connections AS c LEFT JOIN connection_requests AS t ON t.connection = c.connection
WHERE c.is_kafka AND c.broker_speaks IS NOT NULL AND c.requests > 0
GROUP BY c.client_address, c.broker_address, c.broker_port, c.broker_speaks
