-- Which connections may have been dropped while idle? One row per connection and sign of it (`dropped_connections` says which signs, and
-- what else they may mean): `silence_ns` without traffic, `time_ns` when that showed; `is_left`: the client opened another one.
WITH suspects AS (
    SELECT
        connection,
        client_address,
        broker_address,
        broker_port,
        requests > replies AND (client_retransmitted >= 2 OR close = 'rst') AS asks_in_vain,
        broker_retransmitted >= 3 AS answers_in_vain
    FROM connections
    WHERE is_kafka AND is_client(role)
        AND (broker_retransmitted >= 3 OR requests > replies AND (client_retransmitted >= 2 OR close = 'rst'))
),
requests AS (
    SELECT
        x.connection,
        x.exchange,
        x.client_id,
        x.client_address,
        x.broker_address,
        x.broker_port,
        x.status,
        x.request_time_ns,
        x.response_time_ns,
        x.request_time_ns - max(coalesce(x.response_end_ns, x.request_end_ns, x.request_time_ns)) OVER (
            PARTITION BY x.connection ORDER BY x.request_time_ns, x.exchange ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS silence_ns,
        x.response_time_ns - x.request_end_ns AS wait_ns,
        max(x.request_time_ns) OVER (PARTITION BY x.connection) AS last_request_ns,
        max(x.response_time_ns) OVER (PARTITION BY x.connection) AS last_reply_ns
    FROM exchanges AS x JOIN suspects AS s ON s.connection = x.connection
    WHERE x.request_time_ns IS NOT NULL
),
-- Connections with what a client wrote, by the newest of them; the next one of the same client.
writing AS (
    SELECT
        x.client_id,
        x.client_address,
        x.broker_address,
        x.broker_port,
        x.connection,
        max(x.exchange) AS exchange,
        min(c.first_time_ns) AS first_ns,
        max(coalesce(x.response_end_ns, x.request_time_ns)) AS last_ns,
        max(c.last_time_ns) AS last_packet_ns,
        bool_and(c.close = 'none' AND c.capture_side = 'broker' AND c.one_way IS NULL) AS is_open
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_key = api('Produce') AND x.client_id IS NOT NULL AND c.is_kafka AND is_client(c.role)
        AND c.capture_side = 'broker'
    GROUP BY x.client_id, x.client_address, x.broker_address, x.broker_port, x.connection
),
followed AS (
    SELECT
        *,
        lead(first_ns) OVER (PARTITION BY client_id, client_address, broker_address, broker_port ORDER BY first_ns, connection) AS next_ns
    FROM writing
),
abandoned AS (
    SELECT * FROM followed WHERE is_open AND next_ns - last_ns >= s(5) AND last_packet_ns < next_ns - s(5)
),
-- A process goes on to number its requests where it was, on the next connection; one that starts begins anew.
numbered AS (
    SELECT
        connection,
        min(request_time_ns) AS begin_ns,
        min(correlation_id) AS first_id,
        lag(connection) OVER following AS before,
        lag(max(correlation_id)) OVER following AS last_id_before
    FROM exchanges
    WHERE client_address IN (SELECT client_address FROM abandoned) AND client_id IS NOT NULL
    GROUP BY client_id, client_address, broker_address, broker_port, connection
    WINDOW following AS (PARTITION BY client_id, client_address, broker_address, broker_port ORDER BY min(request_time_ns), connection)
),
gone_on AS (
    SELECT a.connection
    FROM abandoned AS a JOIN numbered AS n ON n.before = a.connection
    WHERE n.begin_ns - a.last_ns >= s(5) AND n.first_id BETWEEN n.last_id_before + 1 AND n.last_id_before + 10
),
left_behind AS (
    SELECT f.client_id, f.client_address, f.broker_address, f.broker_port, f.connection, f.exchange, f.last_ns, f.next_ns
    FROM abandoned AS f
    JOIN connections AS n ON n.client_address = f.client_address AND n.first_time_ns BETWEEN f.next_ns - s(5) AND f.next_ns + s(5)
    GROUP BY f.client_id, f.client_address, f.broker_address, f.broker_port, f.connection, f.exchange, f.last_ns, f.next_ns
    HAVING count(*) = 1 OR f.connection IN (SELECT connection FROM gone_on)
),
-- The same of TLS without keys, by hosts; `seen_ns`: when any connection of the host was heard of last.
unread_hosts AS (
    SELECT
        t.client_address,
        t.broker_address,
        t.broker_port,
        t.connection,
        t.last_time_ns,
        t.close = 'none' AND t.capture_side = 'broker' AND t.one_way IS NULL AS is_open,
        max(t.last_time_ns) OVER (
            PARTITION BY t.client_address, t.broker_address, t.broker_port ORDER BY t.first_time_ns, t.connection
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS seen_ns,
        lead(t.first_time_ns) OVER following AS next_ns,
        lead(t.first_time_ns, 2) OVER following AS later_ns
    FROM tls_unread AS t
    WHERE t.broker_stream_bytes > 0 AND t.broker_port <> 443
    WINDOW following AS (PARTITION BY t.client_address, t.broker_address, t.broker_port ORDER BY t.first_time_ns, t.connection)
),
unread_left AS (
    SELECT client_address, broker_address, broker_port, connection, next_ns - last_time_ns AS silence_ns, next_ns
    FROM unread_hosts
    WHERE is_open AND last_time_ns = seen_ns AND next_ns - seen_ns >= s(5)
        AND (later_ns IS NULL OR later_ns - next_ns >= s(5))
)
SELECT
    r.client_address,
    r.broker_address,
    r.broker_port,
    r.connection,
    min(r.silence_ns) AS silence_ns,
    min_by(r.exchange, (r.request_time_ns, r.exchange)) AS exchange,
    min_by(who(r), (r.request_time_ns, r.exchange)) AS who,
    min(r.request_time_ns) AS time_ns,
    FALSE AS is_left
FROM requests AS r JOIN suspects AS s ON s.connection = r.connection
WHERE s.asks_in_vain AND r.status IN ('closed', 'abandoned', 'pending') AND r.silence_ns >= s(5)
    AND (r.last_reply_ns IS NULL OR r.last_reply_ns < r.request_time_ns)
GROUP BY r.client_address, r.broker_address, r.broker_port, r.connection
UNION ALL
SELECT
    r.client_address,
    r.broker_address,
    r.broker_port,
    r.connection,
    min(r.wait_ns) AS silence_ns,
    min(r.exchange) AS exchange,
    min(who(r)) AS who,
    min(r.response_time_ns) AS time_ns,
    FALSE AS is_left
FROM requests AS r
JOIN suspects AS s ON s.connection = r.connection
JOIN connections AS n
    ON n.client_address = r.client_address AND n.broker_address = r.broker_address AND n.broker_port = r.broker_port
    AND n.first_time_ns > r.response_time_ns - s(1)
WHERE s.answers_in_vain AND r.status = 'answered' AND r.wait_ns >= s(5)
    AND r.request_time_ns = r.last_request_ns AND r.response_time_ns = r.last_reply_ns
GROUP BY r.client_address, r.broker_address, r.broker_port, r.connection
UNION ALL
SELECT
    u.client_address,
    u.broker_address,
    u.broker_port,
    u.connection,
    u.asked_time_ns - u.begin_ns AS silence_ns,
    CAST(NULL AS BIGINT) AS exchange,
    u.client_address AS who,
    u.asked_time_ns AS time_ns,
    FALSE AS is_left
FROM unread_silences AS u JOIN connections AS c ON c.connection = u.connection
WHERE u.end_ns IS NULL AND u.asked_time_ns - u.begin_ns >= s(5) AND (c.client_retransmitted >= 2 OR c.close = 'rst')
    AND c.one_way IS NULL
UNION ALL
SELECT
    client_address,
    broker_address,
    broker_port,
    connection,
    next_ns - last_ns AS silence_ns,
    exchange,
    client_id AS who,
    next_ns AS time_ns,
    TRUE AS is_left
FROM left_behind
UNION ALL
SELECT
    client_address,
    broker_address,
    broker_port,
    connection,
    silence_ns,
    CAST(NULL AS BIGINT) AS exchange,
    client_address AS who,
    next_ns AS time_ns,
    TRUE AS is_left
FROM unread_left
