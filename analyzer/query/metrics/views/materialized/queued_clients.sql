-- Whose requests may have spent half of their time and more behind others? One row per connection and client of those with 30 requests at
-- least of one broker, on connections of which one request took 100 ms and queued. Requests that may be left out of `queued_requests`
-- count where they have queued for more than half of their time.
WITH links AS (
    SELECT
        connection,
        who() AS who,
        broker_address,
        broker_port,
        max(CASE WHEN latency_ns >= ms(100) THEN queue_ns END) AS longest_ns,
        count(*) FILTER (WHERE kind IS NULL OR kind IN ('produce_acks_1', 'produce_acks_all', 'fetch_backlog')) AS requests,
        sum(CASE WHEN api_key IN (api('Metadata', 'OffsetCommit', 'Heartbeat', 'LeaveGroup'))
            THEN greatest(CAST(queue_ns AS DOUBLE) * 2 - latency_ns, 0) ELSE CAST(queue_ns AS DOUBLE) * 2 - latency_ns END)
            FILTER (WHERE kind IS NULL OR kind IN ('produce_acks_1', 'produce_acks_all', 'fetch_backlog')) AS excess_ns
    FROM exchanges
    WHERE queue_ns IS NOT NULL AND latency_ns IS NOT NULL AND is_client(role)
    GROUP BY connection, who(), broker_address, broker_port
),
noted AS (
    SELECT *, max(longest_ns) OVER (PARTITION BY connection) > 0 AS is_noted FROM links
)
SELECT n.connection, n.who
FROM noted AS n
JOIN (
    SELECT who, broker_address, broker_port
    FROM noted
    WHERE is_noted
    GROUP BY who, broker_address, broker_port
    HAVING sum(requests) >= 30 AND sum(excess_ns) >= 0
) AS q ON q.who = n.who AND q.broker_address = n.broker_address AND q.broker_port = n.broker_port
WHERE n.is_noted
