-- Whose requests queue behind which others on the same connection? One row per client and broker of which requests
-- with a p99 of `p99_ns` spent half of their time and more (`queue_share`) behind `head`, of API `name`.
-- The head of a queue is the request of a busy stretch of its connection that took longest once it was its turn. A consumer that
-- leaves, commits or asks for metadata while its own Fetch waits for data is on its way out: not told. Medium where another sort of request is
-- at the head, in five seconds at least, so that a start is none: behind requests of their own sort they wait because there are many, or
-- because each is slow, which other rules tell. Three that took 5 s or longer are medium by themselves (`slow_requests`): so is what explains
-- them, and where throttle times are cut a quota may be the cause. Who asks for offsets before each batch, as Spark does, waits behind its
-- own Fetch by design, for fetch.max.wait.ms at most: information.
WITH ordered AS (
    SELECT
        x.exchange,
        x.connection,
        x.api_key,
        x.kind,
        x.client_id,
        x.client_address,
        x.broker_address,
        x.broker_port,
        x.request_time_ns,
        x.request_end_ns,
        x.response_time_ns,
        x.latency_ns,
        x.queue_ns,
        lag(x.response_time_ns) OVER by_request AS earlier_ns,
        sum(CASE WHEN x.queue_ns > 0 THEN 0 ELSE 1 END) OVER by_request AS stretch
    FROM exchanges AS x
    WHERE x.response_time_ns IS NOT NULL AND x.request_end_ns IS NOT NULL AND is_client(x.role)
        AND x.connection IN (SELECT connection FROM queued_clients)
    WINDOW by_request AS (PARTITION BY x.connection ORDER BY x.request_end_ns, x.response_time_ns, x.exchange)
),
heads AS (
    SELECT
        connection,
        stretch,
        max_by(exchange, (response_time_ns - greatest(request_end_ns, coalesce(earlier_ns, request_end_ns)), exchange))
            AS head_exchange
    FROM ordered
    GROUP BY connection, stretch
),
waiting AS (
    SELECT
        o.exchange,
        o.connection,
        q.who,
        o.broker_address,
        o.broker_port,
        o.request_time_ns,
        o.latency_ns,
        CASE WHEN h.head_exchange = o.exchange THEN 0 ELSE o.queue_ns END AS queue_ns,
        h.head_exchange
    FROM ordered AS o
    JOIN queued_clients AS q ON q.connection = o.connection AND q.who = who(o)
    JOIN heads AS h ON h.connection = o.connection AND h.stretch = o.stretch
    JOIN ordered AS f ON f.exchange = h.head_exchange
    WHERE o.queue_ns IS NOT NULL AND o.latency_ns IS NOT NULL
        AND (o.kind IS NULL OR o.kind IN ('produce_acks_1', 'produce_acks_all', 'fetch_backlog'))
        AND NOT (o.api_key IN (api('Metadata', 'OffsetCommit', 'Heartbeat', 'LeaveGroup'))
            AND f.api_key IN (api('Fetch', 'JoinGroup', 'SyncGroup', 'ShareFetch')))
),
queues AS (
    SELECT
        who,
        broker_address || ':' || CAST(broker_port AS STRING) AS broker,
        count(*) AS requests,
        CAST(sum(queue_ns) AS DOUBLE) / nullif(sum(latency_ns), 0) AS queue_share,
        CAST(percentile_disc(0.99) WITHIN GROUP (ORDER BY latency_ns) AS BIGINT) AS p99_ns,
        CAST(least(sum(queue_ns), max_bigint()) AS BIGINT) AS weight,
        max_by(exchange, (queue_ns, exchange)) AS evidence_worst,
        max_by(head_exchange, (queue_ns, exchange)) AS evidence_head,
        min(request_time_ns) FILTER (WHERE queue_ns > 0) AS first_time_ns,
        max(request_time_ns) FILTER (WHERE queue_ns > 0) AS last_time_ns,
        count(DISTINCT floor(request_time_ns / s(1))) FILTER (WHERE queue_ns > 0) AS seconds,
        count(*) FILTER (WHERE latency_ns >= s(5)) AS very_slow
    FROM waiting
    GROUP BY who, broker_address, broker_port
    HAVING count(*) >= 30 AND sum(latency_ns) > 0 AND sum(queue_ns) * 2 >= sum(latency_ns)
        AND percentile_disc(0.99) WITHIN GROUP (ORDER BY latency_ns) >= ms(100)
)
SELECT
    q.* EXCLUDE (seconds, very_slow),
    CASE WHEN h.api_key = w.api_key AND q.very_slow >= 3 THEN 'medium'
        WHEN h.api_key = api('Fetch') AND w.api_key IN (api('ListOffsets', 'OffsetForLeaderEpoch')) OR q.seconds < 5 THEN 'info'
        WHEN k.reach = 'wait' OR h.api_key <> w.api_key THEN 'medium' ELSE 'info' END AS severity,
    h.api_name AS name,
    h.api_name || CASE
        WHEN h.kind IN ('join_wait', 'sync_wait') THEN ' that waits for other members'
        WHEN k.reach = 'wait' THEN ' that waits for data'
        WHEN h.kind = 'produce_acks_all' THEN ' with acks=all'
        ELSE ''
    END AS head,
    CASE
        WHEN h.throttle_time_ms IS NULL AND h.response_decoded = 'truncated' AND h.api_key = w.api_key AND q.very_slow >= 3
            THEN 'perhaps because of a quota: throttle times were cut'
    END AS perhaps
FROM queues AS q
JOIN exchanges AS h ON h.exchange = q.evidence_head
JOIN exchanges AS w ON w.exchange = q.evidence_worst
LEFT JOIN kinds AS k ON k.kind = h.kind
