-- All connections, never filtered; `failed` says how an attempt ended that came to nothing before a byte was exchanged: `none`
-- without an answer, `reset` refused. Null in all others, and where nothing that the broker's host sends was captured.
WITH unheard AS (
    SELECT broker_address FROM all_connections WHERE one_way = 'client' GROUP BY broker_address
)
SELECT
    c.*,
    CASE
        WHEN c.seen_from <> 'syn' OR c.syn_ack_ns IS NOT NULL OR c.client_stream_bytes + c.broker_stream_bytes > 0 THEN NULL
        WHEN c.broker_packets = 0 AND u.broker_address IS NULL THEN 'none'
        WHEN c.close = 'rst' AND c.broker_packets > 0 THEN 'reset'
    END AS failed
FROM all_connections AS c LEFT JOIN unheard AS u ON u.broker_address = c.broker_address
