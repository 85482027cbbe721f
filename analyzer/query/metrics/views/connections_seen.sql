-- All connections, never filtered; `failed` says how an attempt ended that came to nothing before a byte was exchanged: `none`
-- without an answer, `reset` refused. Null in all others.
SELECT
    *,
    CASE
        WHEN seen_from <> 'syn' OR syn_ack_ns IS NOT NULL OR client_stream_bytes + broker_stream_bytes > 0 THEN NULL
        WHEN broker_packets = 0 THEN 'none'
        WHEN close = 'rst' THEN 'reset'
    END AS failed
FROM all_connections
