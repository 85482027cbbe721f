-- Where do read_committed consumers receive nothing, although records are written? One row per partition whose last
-- stable offset stood still for `lasted_ns` while `records` were written.
-- The last stable offset stands still below a high watermark that grows, for longer than the greatest transaction timeout that a
-- producer asked for in this capture, 60 s when none did. While the two are equal nothing is held back.
WITH patience AS (
    SELECT coalesce(CAST(max(transaction_timeout_ms) AS BIGINT), 60000) * ms(1) AS timeout_ns
    FROM all_transaction_events
    WHERE event = 'init' AND transaction_timeout_ms > 0
),
seen AS (
    SELECT
        c.cluster,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        e.last_stable_offset,
        e.high_watermark,
        x.response_time_ns AS time_ns,
        e.exchange
    FROM entries AS e
    JOIN exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_name = 'Fetch' AND e.side = 'response' AND e.last_stable_offset >= 0
        AND e.last_stable_offset < e.high_watermark
),
still AS (
    SELECT
        topic,
        partition,
        max(time_ns) - min(time_ns) AS lasted_ns,
        max(high_watermark) - min(high_watermark) AS records,
        min_by(exchange, (time_ns, exchange)) AS evidence_first,
        max_by(exchange, (time_ns, exchange)) AS evidence_last,
        min(time_ns) AS first_time_ns,
        max(time_ns) AS last_time_ns
    FROM seen
    GROUP BY cluster, topic, partition, last_stable_offset
    HAVING max(high_watermark) > min(high_watermark)
)
SELECT s.*, s.lasted_ns AS weight
FROM still AS s CROSS JOIN patience AS p
WHERE s.lasted_ns > p.timeout_ns
