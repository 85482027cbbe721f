-- What brokers offer, one row for each API in each ApiVersions reply.
SELECT t.exchange, p.connection, c.cluster, t.time_ns, f.api_key, f.min_version, f.max_version
FROM raw_reported AS t
JOIN parts AS p ON p.part = t.part
JOIN raw_version_facts AS f ON f.body = t.body
LEFT JOIN all_connections AS c ON c.connection = p.connection
WHERE p.is_kafka
