-- Whose requests may have spent half of their time and more behind others? One row per client and broker, with 30 requests at least.
-- Requests that may be left out of `queued_requests` count where they have queued for more than that.
SELECT who() AS who, broker_address, broker_port
FROM exchanges
WHERE queue_ns IS NOT NULL AND latency_ns IS NOT NULL AND is_client(role)
    AND (kind IS NULL OR kind IN ('produce_acks_1', 'produce_acks_all', 'fetch_backlog'))
GROUP BY who(), broker_address, broker_port
HAVING count(*) >= 30 AND max(latency_ns) >= ms(100)
    AND sum(CASE WHEN api_key IN (api('Metadata', 'OffsetCommit', 'Heartbeat', 'LeaveGroup'))
        THEN greatest(CAST(queue_ns AS DOUBLE) * 2 - latency_ns, 0) ELSE CAST(queue_ns AS DOUBLE) * 2 - latency_ns END) >= 0
