-- severity: medium
-- rank: 12
-- when: exchanges having max(receive_ns) >= 500000000 OR max(send_ns) >= 500000000
-- says: the way {place} carries {limit_bits_per_s} {direction} and no more: {transfers|transfer|transfers} of {who}[ and {others|other client|other clients}] ran at that rate for {busy_ns}
-- do: Find the link with this rate (a VPN, a provider, a quota of a machine): give it more, or let these clients ask for less.
-- look: kanalyze latency[ --client {who}]
-- explains: client_not_reading, lag_growing, lossy_network, slow_broker, head_of_line
-- Messages of 30 kB and more that took 100 ms and more to arrive, three at least, for two seconds in all. Their rates at each moment are
-- added up: a link at its limit shows one rate, within a tenth, for four fifths of the time. A receiver that is slow shows its
-- window, and is none. A broker's link is told where several clients share the rate, else the way between two hosts.
WITH transfers AS (
    SELECT
        x.client_address,
        x.broker_address,
        x.broker_port,
        coalesce(x.client_id, x.client_address) AS who,
        'to clients' AS direction,
        x.exchange,
        x.response_time_ns AS begin_ns,
        x.response_end_ns AS end_ns,
        x.response_bytes AS bytes
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.receive_ns >= 100000000 AND x.response_bytes >= 30000 AND c.client_zero_windows = 0
    UNION ALL
    SELECT
        x.client_address,
        x.broker_address,
        x.broker_port,
        coalesce(x.client_id, x.client_address) AS who,
        'to brokers' AS direction,
        x.exchange,
        x.request_time_ns AS begin_ns,
        x.request_end_ns AS end_ns,
        x.request_bytes AS bytes
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.send_ns >= 100000000 AND x.request_bytes >= 30000 AND c.broker_zero_windows = 0
),
ways AS (
    SELECT broker_address AS host, CAST(NULL AS STRING) AS peer, * FROM transfers
    UNION ALL
    SELECT client_address AS host, broker_address AS peer, * FROM transfers
),
edges AS (
    SELECT host, peer, direction, begin_ns AS time_ns, CAST(bytes AS DOUBLE) / (end_ns - begin_ns) AS change FROM ways
    UNION ALL
    SELECT host, peer, direction, end_ns AS time_ns, -CAST(bytes AS DOUBLE) / (end_ns - begin_ns) AS change FROM ways
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
    SELECT host, peer, direction, rate, span_ns FROM summed WHERE rate > 1e-6 AND span_ns > 0
),
limits AS (
    SELECT host, peer, direction, sum(rate * span_ns) / sum(span_ns) AS limit_rate, sum(span_ns) AS busy_ns
    FROM busy
    GROUP BY host, peer, direction
),
steady AS (
    SELECT l.host, l.peer, l.direction, l.limit_rate, l.busy_ns
    FROM limits AS l JOIN busy AS b
        ON b.host = l.host AND b.peer IS NOT DISTINCT FROM l.peer AND b.direction = l.direction
    WHERE l.busy_ns >= 2000000000
    GROUP BY l.host, l.peer, l.direction, l.limit_rate, l.busy_ns
    HAVING sum(CASE WHEN b.rate BETWEEN 0.9 * l.limit_rate AND 1.1 * l.limit_rate THEN b.span_ns ELSE 0 END)
        >= 0.8 * l.busy_ns
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
        count(DISTINCT w.client_address) AS client_hosts,
        min(w.client_address) AS client_address,
        min(w.broker_address || ':' || CAST(w.broker_port AS STRING)) AS broker,
        max_by(w.exchange, (w.end_ns - w.begin_ns, w.exchange)) AS evidence_longest,
        min(w.begin_ns) AS first_time_ns,
        max(w.end_ns) AS last_time_ns
    FROM steady AS s JOIN ways AS w
        ON w.host = s.host AND w.peer IS NOT DISTINCT FROM s.peer AND w.direction = s.direction
    GROUP BY s.host, s.peer, s.direction, s.limit_rate, s.busy_ns
    HAVING count(*) >= 3
),
shared AS (
    SELECT host, direction FROM told WHERE peer IS NULL AND client_hosts >= 2
)
SELECT
    CASE WHEN t.peer IS NULL THEN 'of ' || t.broker ELSE 'between ' || t.client_address || ' and ' || t.broker END AS place,
    t.direction,
    t.limit_rate * 8e9 AS limit_bits_per_s,
    t.transfers,
    t.who,
    nullif(t.clients - 1, 0) AS others,
    t.busy_ns,
    t.broker,
    CASE WHEN t.peer IS NOT NULL THEN t.client_address END AS client_address,
    t.busy_ns AS weight,
    t.evidence_longest,
    t.first_time_ns,
    t.last_time_ns
FROM told AS t
LEFT JOIN shared AS h ON h.host = coalesce(t.peer, t.host) AND h.direction = t.direction
WHERE (t.peer IS NULL AND h.host IS NOT NULL) OR (t.peer IS NOT NULL AND h.host IS NULL)
