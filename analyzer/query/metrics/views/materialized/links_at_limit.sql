-- Links that are full, one row a link and direction.
-- By packets that waited in a queue before the capture (`full_links`), and by transfers, where the queue is behind the capture:
-- messages of 30 kB and more that took 100 ms and more to arrive, three at least, for two seconds in all. Their rates at each
-- moment are added up: a link at its limit shows one rate, within a tenth, for four fifths of the time. A receiver that is slow
-- shows its window, and is none; nor is a small window that is filled once a round trip (64 kB and less where the handshake, and so
-- the round trip, is not in the capture). A broker's link is told where several clients share the rate, else the way between two hosts.
-- Where many transfers share a link that is full behind the capture, no rate is steady; then a queue tells, and that it overflows: on
-- all connections of a client the median round trip (20 ACKs sent at once, at least) is 20 ms and three times as long as the shortest
-- one, half a megabyte at least went that way, and 1 % of its packets were lost there, 30 at least; or 2 %, ten at least: a link of less
-- than a Mbit/s has not many packets to lose. A bad cable loses without a queue.
WITH transfers AS (
    SELECT
        x.client_address,
        x.broker_address,
        x.broker_port,
        who(x) AS who,
        'to clients' AS direction,
        x.exchange,
        x.response_time_ns AS begin_ns,
        x.response_end_ns AS end_ns,
        x.response_bytes AS bytes
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.receive_ns >= ms(100) AND x.response_bytes >= 30000 AND c.client_zero_windows = 0 AND c.one_way IS NULL
        AND NOT (
            c.rtt_ns IS NOT NULL AND c.broker_max_unacked_bytes BETWEEN 40000 AND 131072
            AND CAST(x.response_bytes AS DOUBLE) / x.receive_ns * c.rtt_ns >= 0.5 * c.broker_max_unacked_bytes
        )
        AND NOT (c.rtt_ns IS NULL AND c.broker_max_unacked_bytes BETWEEN 60000 AND 65535)
    UNION ALL
    SELECT
        x.client_address,
        x.broker_address,
        x.broker_port,
        who(x) AS who,
        'to brokers' AS direction,
        x.exchange,
        x.request_time_ns AS begin_ns,
        x.request_end_ns AS end_ns,
        x.request_bytes AS bytes
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.send_ns >= ms(100) AND x.request_bytes >= 30000 AND c.broker_zero_windows = 0 AND c.one_way IS NULL
        AND NOT (
            c.rtt_ns IS NOT NULL AND c.client_max_unacked_bytes BETWEEN 40000 AND 131072
            AND CAST(x.request_bytes AS DOUBLE) / x.send_ns * c.rtt_ns >= 0.5 * c.client_max_unacked_bytes
        )
        AND NOT (c.rtt_ns IS NULL AND c.client_max_unacked_bytes BETWEEN 60000 AND 65535)
),
-- All that a broker sends or receives, and what goes between two hosts.
ways AS (
    SELECT
        CASE WHEN w.width = 1 THEN t.broker_address ELSE t.client_address END AS host,
        CASE WHEN w.width = 2 THEN t.broker_address END AS peer,
        t.*,
        CAST(t.bytes AS DOUBLE) / (t.end_ns - t.begin_ns) AS rate
    FROM transfers AS t CROSS JOIN (VALUES (1), (2)) AS w (width)
),
edges AS (
    SELECT
        w.host,
        w.peer,
        w.direction,
        CASE WHEN e.sign = 1 THEN w.begin_ns ELSE w.end_ns END AS time_ns,
        e.sign * w.rate AS change
    FROM ways AS w CROSS JOIN (VALUES (1), (-1)) AS e (sign)
),
summed AS (
    SELECT
        host,
        peer,
        direction,
        sum(change) OVER in_time AS rate,
        lead(time_ns) OVER (PARTITION BY host, peer, direction ORDER BY time_ns) - time_ns AS span_ns
    FROM edges
    WINDOW in_time AS (PARTITION BY host, peer, direction ORDER BY time_ns RANGE UNBOUNDED PRECEDING)
),
-- Below a byte a millisecond nothing is on the way but the errors of floating point.
busy AS (
    SELECT
        host,
        peer,
        direction,
        rate,
        span_ns,
        sum(span_ns) OVER way AS busy_ns,
        sum(rate * span_ns) OVER way / sum(span_ns) OVER way AS limit_rate
    FROM summed
    WHERE rate > 1e-6 AND span_ns > 0
    WINDOW way AS (PARTITION BY host, peer, direction)
),
steady AS (
    SELECT host, peer, direction, min(limit_rate) AS limit_rate, min(busy_ns) AS busy_ns
    FROM busy
    WHERE busy_ns >= s(2)
    GROUP BY host, peer, direction
    HAVING sum(CASE WHEN rate BETWEEN 0.9 * limit_rate AND 1.1 * limit_rate THEN span_ns ELSE 0 END) >= 0.8 * min(busy_ns)
),
told AS (
    SELECT
        s.host,
        s.peer,
        s.direction,
        s.limit_rate,
        CAST(s.busy_ns AS BIGINT) AS busy_ns,
        count(*) AS transfers,
        min(w.who) AS who,
        count(DISTINCT w.who) AS clients,
        s.peer IS NULL AND count(DISTINCT w.client_address) >= 2 AS is_shared,
        min(w.client_address) AS client_address,
        min(
            CASE WHEN w.broker_address LIKE '%:%' THEN '[' || w.broker_address || ']' ELSE w.broker_address END
            || ':' || CAST(w.broker_port AS STRING)
        ) AS broker,
        max_by(w.exchange, (w.end_ns - w.begin_ns, w.exchange)) AS evidence_longest,
        min(w.begin_ns) AS first_time_ns,
        max(w.end_ns) AS last_time_ns
    FROM steady AS s JOIN ways AS w
        ON w.host = s.host AND w.peer IS NOT DISTINCT FROM s.peer AND w.direction = s.direction
    GROUP BY s.host, s.peer, s.direction, s.limit_rate, s.busy_ns
    HAVING count(*) >= 3
),
-- Of a broker's link that several clients share, and of what goes between it and one of them, the wider is told.
placed AS (
    SELECT *, bool_or(is_shared) OVER (PARTITION BY coalesce(peer, host), direction) AS broker_is_full FROM told
),
queues AS (
    SELECT
        client_address,
        broker_address || ':' || CAST(broker_port AS STRING) AS broker,
        'to clients' AS direction,
        CASE WHEN to_client_acks >= 20 THEN to_client_p50_ns END AS p50_ns,
        to_client_least_ns AS least_ns,
        broker_data_packets AS packets,
        client_filled + broker_retransmitted - broker_needless AS lost,
        broker_bytes AS bytes,
        first_time_ns,
        last_time_ns
    FROM connections
    WHERE (is_kafka OR (tls AND broker_port <> 443)) AND is_client(role)
    UNION ALL
    SELECT
        client_address,
        broker_address || ':' || CAST(broker_port AS STRING) AS broker,
        'to brokers' AS direction,
        CASE WHEN to_broker_acks >= 20 THEN to_broker_p50_ns END AS p50_ns,
        to_broker_least_ns AS least_ns,
        client_data_packets AS packets,
        broker_filled + client_retransmitted - client_needless AS lost,
        client_bytes AS bytes,
        first_time_ns,
        last_time_ns
    FROM connections
    WHERE (is_kafka OR (tls AND broker_port <> 443)) AND is_client(role)
),
overflowing AS (
    SELECT
        client_address,
        direction,
        CASE WHEN min(broker) = max(broker) THEN min(broker) END AS broker,
        min(p50_ns) - min(least_ns) AS waited_ns,
        CAST(sum(lost) AS DOUBLE) / nullif(sum(packets), 0) AS lost_share,
        CAST(sum(lost) AS BIGINT) AS lost,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM queues
    GROUP BY client_address, direction
    HAVING min(p50_ns) / 3 >= min(least_ns) AND min(p50_ns) - min(least_ns) >= ms(20) AND sum(bytes) >= mb(0.5)
        AND (sum(lost) >= 30 AND sum(lost) * 100 >= sum(packets) OR sum(lost) >= 10 AND sum(lost) * 50 >= sum(packets))
),
-- A link that was full for a moment, and lost a twentieth of all, did harm.
heavy AS (
    SELECT client_address
    FROM queues
    GROUP BY client_address
    HAVING sum(lost) >= 30 AND sum(lost) * 20 >= sum(packets)
),
users AS (
    SELECT
        client_address,
        min(who()) AS who,
        count(DISTINCT who()) AS clients,
        max_by(exchange, (total_ns, exchange)) FILTER (WHERE total_ns IS NOT NULL) AS exchange
    FROM exchanges
    WHERE client_address IN (SELECT client_address FROM overflowing)
    GROUP BY client_address
),
by_rate AS (
    SELECT
        f.place,
        f.direction,
        f.limit_bits_per_s,
        f.who,
        nullif(f.clients - 1, 0) AS others,
        f.busy_ns,
        f.most_waited_ns,
        f.broker,
        f.client_address,
        CASE WHEN f.busy_ns >= s(1) OR h.client_address IS NOT NULL THEN 'medium' ELSE 'info' END AS severity,
        f.busy_ns AS weight,
        f.evidence_longest,
        f.first_time_ns,
        f.last_time_ns
    FROM full_links AS f LEFT JOIN heavy AS h ON h.client_address = f.client_address
    UNION ALL
    SELECT
        CASE WHEN t.peer IS NULL THEN 'of ' || t.broker ELSE 'between ' || t.client_address || ' and ' || t.broker END AS place,
        t.direction,
        t.limit_rate * 8e9 AS limit_bits_per_s,
        t.who,
        nullif(t.clients - 1, 0) AS others,
        t.busy_ns,
        CAST(NULL AS BIGINT) AS most_waited_ns,
        t.broker,
        CASE WHEN t.peer IS NOT NULL THEN t.client_address END AS client_address,
        'medium' AS severity,
        t.busy_ns AS weight,
        t.evidence_longest,
        t.first_time_ns,
        t.last_time_ns
    FROM placed AS t
    LEFT JOIN full_links AS f ON f.direction IN (t.direction, 'both directions together')
        AND (f.broker_address = coalesce(t.peer, t.host) OR f.client_address = t.client_address)
    WHERE f.place IS NULL AND t.broker_is_full = (t.peer IS NULL) AND (t.peer IS NOT NULL OR t.is_shared)
)
SELECT *, CAST(NULL AS BIGINT) AS waited_ns, CAST(NULL AS DOUBLE) AS lost_share FROM by_rate
UNION ALL
SELECT
    CASE WHEN o.broker IS NULL THEN 'of the clients at ' || o.client_address
        ELSE 'between ' || o.client_address || ' and ' || o.broker END AS place,
    o.direction,
    CAST(NULL AS DOUBLE) AS limit_bits_per_s,
    coalesce(u.who, o.client_address) AS who,
    nullif(u.clients - 1, 0) AS others,
    CAST(NULL AS BIGINT) AS busy_ns,
    CAST(NULL AS BIGINT) AS most_waited_ns,
    o.broker,
    o.client_address,
    'medium' AS severity,
    o.lost AS weight,
    u.exchange AS evidence_longest,
    o.first_time_ns,
    o.last_time_ns,
    o.waited_ns,
    o.lost_share
FROM overflowing AS o
LEFT JOIN users AS u ON u.client_address = o.client_address
LEFT JOIN by_rate AS r
    ON r.direction IN (o.direction, 'both directions together')
    AND (r.client_address = o.client_address OR (r.client_address IS NULL AND r.broker = coalesce(o.broker, r.broker)))
WHERE r.place IS NULL
