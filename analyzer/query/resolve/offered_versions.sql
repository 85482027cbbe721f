-- What brokers offer, one row for each API in each ApiVersions reply.
SELECT t.exchange, l.connection, l.cluster, t.time_ns, f.api_key, f.min_version, f.max_version
FROM raw_reported AS t
JOIN connection_context AS l ON l.part = t.part
JOIN raw_version_facts AS f ON f.body = t.body
WHERE l.is_kafka
