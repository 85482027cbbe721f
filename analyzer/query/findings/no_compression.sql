-- severity: info
-- rank: 12
-- when: batches having count(*) FILTER (WHERE side = 'request' AND codec = 'none') >= 30
-- says: {who} produces {topic} uncompressed, {written_bytes} at {written_bytes_per_s}
-- do: compression.type=zstd or lz4 saves network and disk on brokers and consumers.
-- look: kanalyze topics[ --topic {topic}]
-- From 1 MB/s on, of at least 30 batches.
SELECT
    coalesce(x.client_id, x.client_address) AS who,
    coalesce(b.topic, b.topic_id) AS topic,
    CAST(sum(b.bytes) AS BIGINT) AS written_bytes,
    sum(b.bytes) * 1e9 / nullif(max(x.request_time_ns) - min(x.request_time_ns), 0) AS written_bytes_per_s,
    CAST(sum(b.bytes) AS BIGINT) AS weight,
    max_by(b.exchange, (b.bytes, b.exchange)) AS evidence_greatest,
    min(x.request_time_ns) AS first_time_ns,
    max(x.request_time_ns) AS last_time_ns
FROM batches AS b JOIN exchanges AS x ON x.exchange = b.exchange
WHERE b.side = 'request' AND b.codec = 'none' AND coalesce(x.role, 'client') = 'client'
GROUP BY coalesce(x.client_id, x.client_address), coalesce(b.topic, b.topic_id)
HAVING count(*) >= 30 AND sum(b.bytes) * 1e9 / nullif(max(x.request_time_ns) - min(x.request_time_ns), 0) >= 1000000
