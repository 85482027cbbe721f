-- Partitions that a consumer's Fetch names in its request or reply, as one run saw it: one row for each partition of a Fetch.
-- `session_id` is 0 without a fetch session (KIP-227).
WITH fetches AS (
    SELECT
        exchange,
        part,
        coalesce(request_time_ns, response_time_ns) AS asked_ns,
        response_time_ns,
        CASE WHEN session_id <> 0 THEN session_id ELSE 0 END AS session_id,
        session_epoch,
        isolation_level
    FROM raw_exchanges
    WHERE api_key = api('Fetch') AND coalesce(replica_id, -1) < 0 AND NOT token
),
told AS (
    SELECT
        e.exchange,
        coalesce(e.topic_id, e.topic) AS topic_key,
        e.partition,
        max(e.topic) AS topic,
        max(e.topic_id) AS topic_id,
        max(CASE WHEN e.side = 'request' AND e.forgotten THEN 1 ELSE 0 END) AS forgotten,
        max(CASE WHEN e.side = 'request' AND NOT e.forgotten THEN e.offset END) AS asked_offset,
        max(CASE WHEN e.side = 'response' THEN e.last_stable_offset END) AS last_stable_offset,
        max(CASE WHEN e.side = 'response' THEN e.high_watermark END) AS high_watermark,
        max(CASE WHEN e.side = 'response' THEN e.next_offset END) AS told_next,
        max(CASE WHEN e.side = 'response' THEN e.record_bytes END) AS record_bytes,
        max(CASE WHEN e.side = 'response' THEN e.preferred_read_replica END) AS preferred_read_replica
    FROM raw_entries AS e
    WHERE e.exchange IN (SELECT exchange FROM fetches)
    GROUP BY e.exchange, coalesce(e.topic_id, e.topic), e.partition
)
SELECT
    f.part,
    f.session_id,
    f.session_epoch,
    f.asked_ns,
    f.response_time_ns,
    t.exchange,
    t.topic_key,
    t.partition,
    t.topic,
    t.topic_id,
    t.forgotten,
    t.asked_offset,
    CASE WHEN f.isolation_level = 1 AND t.last_stable_offset >= 0 THEN t.last_stable_offset
        WHEN f.isolation_level IS DISTINCT FROM 1 AND t.high_watermark >= 0 THEN t.high_watermark END AS told_end,
    t.told_next,
    t.record_bytes,
    t.preferred_read_replica
FROM told AS t JOIN fetches AS f ON f.exchange = t.exchange
