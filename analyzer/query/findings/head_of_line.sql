-- severity: medium
-- rank: 28
-- when: exchanges having count(*) FILTER (WHERE queue_ns > 0) > 0 AND max(latency_ns) >= 100000000
-- says: requests of {who} to {broker} wait behind each other: {queue_share} of their latency, p99 {p99_ns}
-- do: Fewer requests in flight on one connection, or smaller ones: a broker works on one request of a connection at a time.
-- look: kanalyze latency[ --client {who}] --broker {broker}
WITH timed AS (
    SELECT
        coalesce(client_id, client_address) AS who,
        broker_address || ':' || CAST(broker_port AS STRING) AS broker,
        exchange,
        latency_ns,
        queue_ns,
        request_time_ns,
        row_number() OVER (
            PARTITION BY coalesce(client_id, client_address), broker_address, broker_port ORDER BY latency_ns
        ) AS place,
        count(*) OVER (PARTITION BY coalesce(client_id, client_address), broker_address, broker_port) AS requests
    FROM exchanges
    WHERE queue_ns IS NOT NULL AND latency_ns IS NOT NULL AND coalesce(role, 'client') = 'client'
        AND (kind IS NULL OR kind IN ('produce_acks_1', 'produce_acks_all', 'fetch_backlog'))
)
SELECT
    who,
    broker,
    max(requests) AS requests,
    CAST(sum(queue_ns) AS DOUBLE) / nullif(sum(latency_ns), 0) AS queue_share,
    min(latency_ns) FILTER (WHERE place * 100 >= requests * 99) AS p99_ns,
    CAST(least(sum(queue_ns), 9223372036854775807) AS BIGINT) AS weight,
    max_by(exchange, (queue_ns, exchange)) AS evidence_worst,
    min(request_time_ns) AS first_time_ns,
    max(request_time_ns) AS last_time_ns
FROM timed
GROUP BY who, broker
HAVING max(requests) >= 30 AND sum(latency_ns) > 0 AND sum(queue_ns) * 2 >= sum(latency_ns)
    AND min(latency_ns) FILTER (WHERE place * 100 >= requests * 99) >= 100000000
