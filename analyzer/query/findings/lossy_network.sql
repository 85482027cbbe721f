-- severity: medium
-- rank: 34
-- when: exchanges having count(*) >= 30 AND (SELECT count(*) FROM (SELECT 1 AS pair FROM connections WHERE is_kafka GROUP BY client_address, broker_address HAVING sum(client_retransmitted + broker_retransmitted) >= 30 AND sum(client_retransmitted + broker_retransmitted) * 100 >= sum(client_packets + broker_packets)) AS pairs) > 0
-- says: the network between {client_address} and {broker_address} loses packets: {resent_share} of their segments came twice, and {slow_share} of the slowest requests ran there
-- do: Look at the path between the two: interfaces' error counters, a full queue, a bad cable.
-- look: kanalyze connections --client {client_address}
-- At least 30 segments sent again, 1 % of all; slow is the slowest hundredth of each API, of at least 30 requests.
WITH pairs AS (
    SELECT
        client_address,
        broker_address,
        CAST(sum(client_retransmitted + broker_retransmitted) AS BIGINT) AS resent,
        CAST(sum(client_packets + broker_packets) AS BIGINT) AS packets,
        max_by(connection, (client_retransmitted + broker_retransmitted, connection)) AS connection,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM connections
    WHERE is_kafka
    GROUP BY client_address, broker_address
    HAVING sum(client_retransmitted + broker_retransmitted) >= 30
        AND sum(client_retransmitted + broker_retransmitted) * 100 >= sum(client_packets + broker_packets)
),
timed AS (
    SELECT exchange, client_address, broker_address, api_name, kind, latency_ns
    FROM exchanges
    WHERE latency_ns IS NOT NULL
        AND (kind IS NULL OR kind IN ('produce_acks_1', 'produce_acks_all', 'fetch_backlog', 'fetch_unknown'))
),
-- Only the slowest rows are ranked.
classes AS (
    SELECT api_name, kind, count(*) AS requests, CAST(percentile_disc(0.98) WITHIN GROUP (ORDER BY latency_ns) AS BIGINT) AS slow_ns
    FROM timed
    GROUP BY api_name, kind
    HAVING count(*) >= 30
),
ranked AS (
    SELECT
        t.exchange,
        t.client_address,
        t.broker_address,
        t.latency_ns,
        row_number() OVER (PARTITION BY t.api_name, t.kind ORDER BY t.latency_ns DESC, t.exchange) AS place,
        c.requests
    FROM timed AS t JOIN classes AS c
        ON c.api_name IS NOT DISTINCT FROM t.api_name AND c.kind IS NOT DISTINCT FROM t.kind AND t.latency_ns >= c.slow_ns
),
slow AS (
    SELECT *, count(*) OVER () AS slow_requests
    FROM ranked
    WHERE place * 100 <= requests
)
SELECT
    p.client_address,
    p.broker_address,
    p.connection,
    CAST(p.resent AS DOUBLE) / p.packets AS resent_share,
    CAST(count(*) AS DOUBLE) / max(s.slow_requests) AS slow_share,
    p.resent AS weight,
    max_by(s.exchange, (s.latency_ns, s.exchange)) AS evidence_slowest,
    p.first_time_ns,
    p.last_time_ns
FROM pairs AS p
JOIN slow AS s ON s.client_address = p.client_address AND s.broker_address = p.broker_address
GROUP BY p.client_address, p.broker_address, p.connection, p.resent, p.packets, p.first_time_ns, p.last_time_ns
HAVING count(*) * 5 >= max(s.slow_requests)
