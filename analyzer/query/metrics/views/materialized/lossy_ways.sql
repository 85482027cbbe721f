-- Ways on which packets are lost, one row a host and side of the capture.
-- A packet that fills a hole later was lost before the capture, one that is sent again though it was seen behind it: so each loss is
-- on the client's or on the broker's side of the capture, and is told of that host. One of which the receiver says that it had come
-- before (D-SACK) was an impatient sender's; where the receiver is not heard, any may be. At least 30 packets, 1 % of those with data; or
-- five, 2 %, which are no share of anything.
-- TLS that was not read counts too (not on the web's port).
-- Medium where 5 % are lost, or a fifth of the slowest requests (the slowest hundredth of each API, at least one) ran there.
WITH lost AS (
    SELECT
        *,
        client_filled + broker_retransmitted - broker_needless AS client_lost,
        broker_filled + client_retransmitted - client_needless AS broker_lost
    FROM connections
    WHERE (is_kafka OR (tls AND broker_port <> 443)) AND one_way IS NULL
),
pairs AS (
    SELECT
        client_address,
        broker_address,
        CAST(sum(client_lost) AS BIGINT) AS client_lost,
        CAST(sum(broker_lost) AS BIGINT) AS broker_lost,
        CAST(sum(client_data_packets + broker_data_packets) AS BIGINT) AS packets,
        max_by(connection, (client_retransmitted + broker_retransmitted + client_filled + broker_filled, connection)) AS connection,
        max(capture_side) AS capture_side,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM lost
    GROUP BY client_address, broker_address
),
sided AS (
    SELECT client_address AS host, broker_address AS peer, 'client' AS side, client_lost AS lost, pairs.* FROM pairs
    UNION ALL
    SELECT broker_address AS host, client_address AS peer, 'broker' AS side, broker_lost AS lost, pairs.* FROM pairs
),
lossy AS (
    SELECT
        host,
        side,
        CAST(sum(lost) AS BIGINT) AS lost,
        CAST(sum(packets) AS BIGINT) AS packets,
        count(*) AS peers,
        min(peer) AS one_peer,
        min(capture_side) AS capture_side,
        max_by(connection, (lost, connection)) AS connection,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM sided
    WHERE lost * 200 >= packets
    GROUP BY host, side
    HAVING sum(lost) * 100 >= sum(packets) AND (sum(lost) >= 30 OR (sum(lost) >= 5 AND sum(lost) * 50 >= sum(packets)))
),
timed AS (
    SELECT exchange, client_address, broker_address, api_name, kind, latency_ns
    FROM all_exchanges
    WHERE latency_ns IS NOT NULL
        AND (kind IS NULL OR kind IN ('produce_acks_1', 'produce_acks_all', 'fetch_backlog', 'fetch_unknown'))
        AND (SELECT count(*) FROM lossy) > 0
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
    WHERE place = 1 OR place * 100 <= requests
),
felt AS (
    SELECT
        l.host,
        l.side,
        CAST(count(s.exchange) AS DOUBLE) / max(s.slow_requests) AS slow_share,
        max_by(s.exchange, (s.latency_ns, s.exchange)) FILTER (WHERE s.exchange IS NOT NULL) AS exchange
    FROM lossy AS l LEFT JOIN slow AS s
        ON l.host = CASE WHEN l.side = 'client' THEN s.client_address ELSE s.broker_address END
    GROUP BY l.host, l.side
)
SELECT
    CASE
        WHEN l.capture_side = l.side OR (l.side = 'broker' AND l.capture_side = 'client' AND l.peers = 1)
            OR (l.side = 'client' AND l.capture_side = 'broker' AND l.peers = 1)
            THEN 'between ' || l.host || ' and ' || l.one_peer
        ELSE 'between the capture point and ' || l.side || ' ' || l.host
    END AS place,
    l.side,
    CASE WHEN l.side = 'client' THEN l.host WHEN l.peers = 1 THEN l.one_peer END AS client_address,
    CASE WHEN l.side = 'broker' THEN l.host END AS broker_address,
    CASE WHEN l.peers > 1 THEN l.peers END AS peers,
    l.lost,
    l.packets,
    CASE WHEN l.lost >= 30 THEN CAST(l.lost AS DOUBLE) / l.packets END AS lost_share,
    CASE WHEN l.lost >= 30 THEN f.slow_share END AS slow_share,
    CASE WHEN l.lost >= 30 AND (f.slow_share >= 0.2 OR l.lost * 20 >= l.packets) THEN 'medium' ELSE 'info' END AS severity,
    l.lost AS weight,
    l.connection,
    f.exchange AS evidence_slowest,
    l.first_time_ns,
    l.last_time_ns
FROM lossy AS l JOIN felt AS f ON f.host = l.host AND f.side = l.side
