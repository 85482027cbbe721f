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
    WHERE api_key = 1 AND coalesce(replica_id, -1) < 0 AND NOT token
)
SELECT
    f.exchange,
    f.part,
    f.asked_ns,
    f.response_time_ns,
    f.session_id,
    f.session_epoch,
    coalesce(e.topic_id, e.topic) AS topic_key,
    max(e.topic) AS topic,
    max(e.topic_id) AS topic_id,
    e.partition,
    max(CASE WHEN e.side = 'request' AND e.forgotten THEN 1 ELSE 0 END) AS forgotten,
    max(CASE WHEN e.side = 'request' AND NOT e.forgotten THEN e.offset END) AS asked_offset,
    max(CASE WHEN e.side = 'response' THEN CASE WHEN f.isolation_level = 1 THEN e.last_stable_offset ELSE e.high_watermark END END)
        AS told_end,
    max(CASE WHEN e.side = 'response' THEN e.next_offset END) AS told_next,
    max(CASE WHEN e.side = 'response' THEN e.record_bytes END) AS record_bytes,
    max(CASE WHEN e.side = 'response' THEN e.preferred_read_replica END) AS preferred_read_replica
FROM raw_entries AS e JOIN fetches AS f ON f.exchange = e.exchange
GROUP BY
    f.exchange, f.part, f.asked_ns, f.response_time_ns, f.session_id, f.session_epoch,
    coalesce(e.topic_id, e.topic), e.partition
