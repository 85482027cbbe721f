-- Producers that write much without compression, one row a client and topic.
-- From 1 MB/s on, of at least 30 batches.
WITH sent AS (
    SELECT exchange, coalesce(topic, topic_id) AS topic, count(*) AS batches, sum(bytes) AS bytes, max(bytes) AS greatest
    FROM batches
    WHERE side = 'request' AND codec = 'none'
    GROUP BY exchange, coalesce(topic, topic_id)
)
SELECT
    who(x) AS who,
    s.topic,
    CAST(sum(s.bytes) AS BIGINT) AS written_bytes,
    sum(s.bytes) * 1e9 / nullif(max(x.request_time_ns) - min(x.request_time_ns), 0) AS written_bytes_per_s,
    CAST(sum(s.bytes) AS BIGINT) AS weight,
    max_by(s.exchange, (s.greatest, s.exchange)) AS evidence_greatest,
    min(x.request_time_ns) AS first_time_ns,
    max(x.request_time_ns) AS last_time_ns
FROM sent AS s JOIN exchanges AS x ON x.exchange = s.exchange
WHERE x.api_key = api('Produce') AND is_client(x.role)
GROUP BY who(x), s.topic
HAVING sum(s.batches) >= 30
    AND sum(s.bytes) * 1e9 / nullif(max(x.request_time_ns) - min(x.request_time_ns), 0) >= mb(1)
