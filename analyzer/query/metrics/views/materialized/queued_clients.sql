-- Whose requests may have spent half of their time and more behind others? One row per connection and client of those with 30 requests at
-- least of one broker, on connections of which one request took 100 ms and queued. Requests that may be left out of `queued_requests`
-- count where they have queued for more than half of their time.
WITH noted AS (
    SELECT
        connection,
        who() AS who,
        broker_address,
        broker_port,
        count(*) FILTER (WHERE kind IS NULL OR kind IN ('produce_acks_1', 'produce_acks_all', 'fetch_backlog')) AS requests,
        sum(CASE WHEN api_key IN (api('Metadata', 'OffsetCommit', 'Heartbeat', 'LeaveGroup'))
            THEN greatest(CAST(queue_ns AS DOUBLE) * 2 - latency_ns, 0) ELSE CAST(queue_ns AS DOUBLE) * 2 - latency_ns END)
            FILTER (WHERE kind IS NULL OR kind IN ('produce_acks_1', 'produce_acks_all', 'fetch_backlog')) AS excess_ns
    FROM exchanges
    WHERE queue_ns IS NOT NULL AND latency_ns IS NOT NULL AND is_client(role) AND connection IN (
            SELECT connection FROM exchanges WHERE latency_ns >= ms(100) AND queue_ns > 0 AND is_client(role)
        )
    GROUP BY connection, who(), broker_address, broker_port
)
SELECT n.connection, n.who
FROM noted AS n
JOIN (
    SELECT who, broker_address, broker_port
    FROM noted
    GROUP BY who, broker_address, broker_port
    HAVING sum(requests) >= 30 AND sum(excess_ns) >= 0
) AS q ON q.who = n.who AND q.broker_address = n.broker_address AND q.broker_port = n.broker_port
