-- The connections that stand out: never answered, requests left without an answer, bytes lost, more than 1 % of the packets sent
-- again (of at least 100), reset. `retransmitted_share` is 0 to 1.
WITH facts AS (
    SELECT
        c.connection,
        t.client_id,
        c.client_address,
        c.client_port,
        c.broker_address,
        c.broker_port,
        c.first_time_ns,
        c.last_time_ns,
        c.close = 'rst' AS reset,
        coalesce(t.requests, 0) AS requests,
        coalesce(t.unanswered, 0) AS unanswered,
        -- A few requests that wait when the capture ends are nothing to note.
        coalesce(
            t.answered = 0 AND t.orphan_replies = 0 AND (t.unanswered > 0 OR t.pending >= 30), false
        ) AS never_answered,
        coalesce(c.client_gaps, 0) + coalesce(c.broker_gaps, 0) AS gaps,
        coalesce(c.client_gap_bytes, 0) + coalesce(c.broker_gap_bytes, 0) AS gap_bytes,
        coalesce(c.client_retransmitted, 0) + coalesce(c.broker_retransmitted, 0) AS retransmitted,
        coalesce(c.client_packets, 0) + coalesce(c.broker_packets, 0) AS packets
    FROM connections AS c LEFT JOIN connection_requests AS t ON t.connection = c.connection
    WHERE c.is_kafka
)
SELECT
    *,
    CASE WHEN packets > 0 THEN CAST(retransmitted AS DOUBLE) / packets END AS retransmitted_share
FROM facts
WHERE never_answered OR unanswered > 0 OR gaps > 0 OR reset OR (packets >= 100 AND retransmitted * 100 > packets)
