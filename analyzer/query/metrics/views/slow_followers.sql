-- Produce with acks=all that waits for a follower, one row a follower, or where none is captured a broker and topic.
-- Two ways to see it. A follower sends its next Fetch as soon as it has written the last: a pause of 100 ms or more is its own, and so
-- is the part of a Produce that overlaps with it. Ten requests of 100 ms, or three of a second, of which the pauses are half. One
-- or two pauses below 3 s are information: fetchers pause for a second when leaders move.
-- Where no follower is captured: the p99 of acks=all is 5 times that of acks=1 on the same broker and topic, ten such requests.
WITH steps AS (
    SELECT
        connection,
        client_address,
        replica_id,
        broker_address,
        exchange,
        request_time_ns AS end_ns,
        response_end_ns,
        max(response_end_ns) OVER (
            PARTITION BY connection ORDER BY request_time_ns, exchange ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS begin_ns
    FROM exchanges
    WHERE kind = 'fetch_follower' AND request_time_ns IS NOT NULL
),
-- The last Fetch of a connection that is still open has been answered: from there to the end of the capture nothing was asked.
lasting AS (
    SELECT
        s.client_address,
        s.replica_id,
        s.broker_address,
        max(s.response_end_ns) AS begin_ns,
        (SELECT max(last_time_ns) FROM connections) AS end_ns,
        max_by(s.exchange, (s.end_ns, s.exchange)) AS exchange
    FROM steps AS s JOIN connections AS c ON c.connection = s.connection
    WHERE c.close = 'none'
    GROUP BY s.connection, s.client_address, s.replica_id, s.broker_address
    HAVING max(s.response_end_ns) > max(s.end_ns)
),
pauses AS (
    SELECT client_address, replica_id, broker_address, begin_ns, end_ns, exchange
    FROM steps
    WHERE end_ns - begin_ns >= ms(100)
    UNION ALL
    SELECT client_address, replica_id, broker_address, begin_ns, end_ns, exchange
    FROM lasting
    WHERE end_ns - begin_ns >= s(1)
),
slow AS (
    SELECT exchange, broker_address, request_end_ns, response_time_ns, latency_ns
    FROM exchanges
    WHERE kind = 'produce_acks_all' AND latency_ns >= ms(100) AND coalesce(throttle_time_ms, 0) = 0
),
waits AS (
    SELECT
        p.client_address,
        p.replica_id,
        s.exchange,
        s.latency_ns,
        s.request_end_ns,
        s.response_time_ns,
        sum(least(p.end_ns, s.response_time_ns) - greatest(p.begin_ns, s.request_end_ns)) AS paused_ns,
        max(p.end_ns - p.begin_ns) AS pause_ns,
        max(p.begin_ns) AS pause_begin_ns,
        max_by(p.exchange, (p.end_ns - p.begin_ns, p.exchange)) AS next_fetch
    FROM slow AS s JOIN pauses AS p ON p.broker_address = s.broker_address
    WHERE p.begin_ns < s.response_time_ns AND p.end_ns > s.request_end_ns
    GROUP BY p.client_address, p.replica_id, s.exchange, s.latency_ns, s.request_end_ns, s.response_time_ns
),
followers AS (
    SELECT
        client_address || coalesce(' (broker ' || CAST(replica_id AS STRING) || ')', '') AS follower,
        client_address AS host,
        CAST(NULL AS STRING) AS broker,
        CAST(NULL AS STRING) AS topic,
        CAST(NULL AS BIGINT) AS one_p99_ns,
        max(pause_ns) AS pause_ns,
        CASE WHEN count(DISTINCT pause_begin_ns) >= 3 OR max(pause_ns) >= s(3) THEN 'medium' ELSE 'info' END AS severity,
        count(*) AS requests,
        max(latency_ns) AS worst_ns,
        CAST(least(sum(latency_ns), max_bigint()) AS BIGINT) AS weight,
        max_by(exchange, (latency_ns, exchange)) AS evidence_slowest,
        max_by(next_fetch, (pause_ns, next_fetch)) AS evidence_fetch,
        min(request_end_ns) AS first_time_ns,
        max(response_time_ns) AS last_time_ns
    FROM waits
    WHERE paused_ns >= latency_ns / 2
    GROUP BY client_address, replica_id
    HAVING count(*) >= 10 OR count(*) FILTER (WHERE latency_ns >= s(1)) >= 3
),
timed AS (
    SELECT exchange, broker_address, broker_port, kind, request_time_ns, broker_ns
    FROM exchanges
    WHERE api_key = api('Produce') AND kind IN ('produce_acks_1', 'produce_acks_all') AND broker_ns IS NOT NULL
        -- Before 2.0 a throttled reply waited for its quota.
        AND throttle_time_ms = 0
        AND NOT EXISTS (SELECT 1 FROM steps)
),
written AS (
    SELECT exchange, coalesce(topic, topic_id) AS topic
    FROM entries
    WHERE side = 'request' AND exchange IN (SELECT exchange FROM timed)
    GROUP BY exchange, coalesce(topic, topic_id)
),
classes AS (
    SELECT
        w.topic,
        x.broker_address,
        x.broker_port,
        x.kind,
        CAST(percentile_disc(0.99) WITHIN GROUP (ORDER BY x.broker_ns) AS BIGINT) AS p99_ns
    FROM timed AS x JOIN written AS w ON w.exchange = x.exchange
    GROUP BY w.topic, x.broker_address, x.broker_port, x.kind
    HAVING count(*) >= 30
),
compared AS (
    SELECT
        CAST(NULL AS STRING) AS follower,
        CAST(NULL AS STRING) AS host,
        o.broker_address || ':' || CAST(o.broker_port AS STRING) AS broker,
        o.topic,
        o.p99_ns AS one_p99_ns,
        CAST(NULL AS BIGINT) AS pause_ns,
        'medium' AS severity,
        count(*) AS requests,
        max(x.broker_ns) AS worst_ns,
        CAST(least(sum(x.broker_ns), max_bigint()) AS BIGINT) AS weight,
        max_by(x.exchange, (x.broker_ns, x.exchange)) AS evidence_slowest,
        CAST(NULL AS BIGINT) AS evidence_fetch,
        min(x.request_time_ns) AS first_time_ns,
        max(x.request_time_ns) AS last_time_ns
    FROM classes AS a
    JOIN classes AS o
        ON o.topic = a.topic AND o.broker_address = a.broker_address AND o.broker_port = a.broker_port
        AND o.kind = 'produce_acks_1' AND a.p99_ns / 5 >= o.p99_ns
    JOIN timed AS x
        ON x.broker_address = a.broker_address AND x.broker_port = a.broker_port AND x.kind = 'produce_acks_all'
        AND x.broker_ns / 5 >= o.p99_ns
    JOIN written AS w ON w.exchange = x.exchange AND w.topic = a.topic
    WHERE a.kind = 'produce_acks_all'
    GROUP BY o.broker_address, o.broker_port, o.topic, o.p99_ns
    HAVING count(*) >= 10
)
SELECT * FROM followers
UNION ALL
SELECT * FROM compared
