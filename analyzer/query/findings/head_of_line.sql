-- severity: medium
-- rank: 28
-- when: exchanges having count(*) FILTER (WHERE queue_ns > 0) > 0 AND max(latency_ns) >= 100000000
-- says: requests of {who} to {broker} wait behind each other: {queue_share} of their latency, p99 {p99_ns}
-- do: Fewer requests in flight on one connection, or smaller ones: a broker works on one request of a connection at a time.
-- look: kanalyze latency[ --client {who}] --broker {broker}
SELECT
    coalesce(client_id, client_address) AS who,
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    count(*) AS requests,
    CAST(sum(queue_ns) AS DOUBLE) / nullif(sum(latency_ns), 0) AS queue_share,
    CAST(percentile_disc(0.99) WITHIN GROUP (ORDER BY latency_ns) AS BIGINT) AS p99_ns,
    CAST(least(sum(queue_ns), 9223372036854775807) AS BIGINT) AS weight,
    max_by(exchange, (queue_ns, exchange)) AS evidence_worst,
    min(request_time_ns) AS first_time_ns,
    max(request_time_ns) AS last_time_ns
FROM exchanges
WHERE queue_ns IS NOT NULL AND latency_ns IS NOT NULL AND coalesce(role, 'client') = 'client'
    AND (kind IS NULL OR kind IN ('produce_acks_1', 'produce_acks_all', 'fetch_backlog'))
GROUP BY coalesce(client_id, client_address), broker_address, broker_port
HAVING count(*) >= 30 AND sum(latency_ns) > 0 AND sum(queue_ns) * 2 >= sum(latency_ns)
    AND percentile_disc(0.99) WITHIN GROUP (ORDER BY latency_ns) >= 100000000
