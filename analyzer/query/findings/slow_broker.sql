-- severity: high
-- rank: 12
-- when: exchange_sorts having sum(slow_in_broker) FILTER (WHERE is_client AND kind IN ('produce_acks_1', 'produce_acks_all', 'fetch_backlog')) >= 10
-- says: {api_name} p99 is {p99_ns} on broker {broker}[ and at most {others_p99_ns} on the other brokers][, with a median of {p50_ns}]: this is the broker's own time[ {or_follower}], not the network[. Most of the slow requests' time is {log_part}, {log_share} by the broker's log]
-- do: Check this broker's disks, its followers (acks=all waits for them) and its request handler threads (RequestHandlerAvgIdlePercent).
-- look: kanalyze latency --of broker --by api --by broker --api {api_name}
-- explains: out_of_sync, slow_requests, unexplained, gives_up
-- costs: time
-- Time in the broker only, where packets prove it; at least 30 requests on each side; percentiles as in latency_slices. Ten slow
-- requests at least, as two slow ones of 200 are no p99. The others are those of its cluster.
-- Where these are not seen or as slow, it is compared with itself: slow requests take ten times its median and 100 ms, or are twenty of
-- 50 ms (a second in all), in five seconds at least, so that a start is none (for information unless those of 500 ms or longer took a
-- second together); it is not told where twice the share of the other brokers' requests, and five of them, were as slow: then all are,
-- and this one least. With the broker's log it is said what it did, where the log has half of the slow requests and one part takes half
-- of their time.
WITH timed AS (
    -- A throttled reply of a broker before 2.0 waited for its quota, and one that does not tell may have.
    SELECT
        api_name, kind, broker_address, broker_port, exchange, broker_ns, request_time_ns,
        CASE WHEN broker_ns > 0 THEN CAST(ceil(64 * ln(broker_ns / 1e9) / ln(2)) AS INT) ELSE -2000 END AS bucket
    FROM exchanges
    WHERE api_key IN (api('Produce', 'Fetch')) AND broker_ns IS NOT NULL AND throttle_time_ms = 0
        AND kind IN ('produce_acks_1', 'produce_acks_all', 'fetch_backlog') AND is_client(role)
),
slow AS (
    SELECT
        api_name,
        kind,
        broker_address,
        broker_port,
        count(*) AS requests,
        CAST(least(greatest(
            round(1e9 * exp((percentile_disc(0.5) WITHIN GROUP (ORDER BY bucket) - 0.5) * (ln(2) / 64))), min(broker_ns)
        ), max(broker_ns)) AS BIGINT) AS p50_ns,
        CAST(least(greatest(
            round(1e9 * exp((percentile_disc(0.99) WITHIN GROUP (ORDER BY bucket) - 0.5) * (ln(2) / 64))), min(broker_ns)
        ), max(broker_ns)) AS BIGINT) AS p99_ns,
        max_by(exchange, (broker_ns, exchange)) AS evidence_slowest,
        min(request_time_ns) AS first_time_ns,
        max(request_time_ns) AS last_time_ns
    FROM timed
    GROUP BY api_name, kind, broker_address, broker_port
    HAVING count(*) >= 30
),
-- Brokers of one cluster have one home. Where its id is not known there is one for each client: they are those that one client asks.
homes AS (
    SELECT DISTINCT
        broker_address,
        broker_port,
        coalesce(max(cluster) OVER (PARTITION BY broker_address, broker_port), 'of ' || client_address) AS home
    FROM (
        SELECT broker_address, broker_port, client_address, max(cluster_id()) AS cluster
        FROM connections
        WHERE is_kafka AND is_client(role)
        GROUP BY broker_address, broker_port, client_address
    ) AS c
),
fellows AS (
    SELECT h.broker_address, h.broker_port, o.broker_address AS other_address, o.broker_port AS other_port
    FROM homes AS h
    JOIN (SELECT DISTINCT broker_address, broker_port FROM slow WHERE p99_ns >= ms(50)) AS s
        ON s.broker_address = h.broker_address AND s.broker_port = h.broker_port
    JOIN homes AS o ON o.home = h.home
    WHERE o.broker_address <> h.broker_address OR o.broker_port <> h.broker_port
    GROUP BY h.broker_address, h.broker_port, o.broker_address, o.broker_port
),
compared AS (
    SELECT
        s.api_name,
        s.kind,
        s.broker_address,
        s.broker_port,
        s.requests,
        s.p50_ns,
        s.p99_ns,
        CASE WHEN s.p99_ns / 3 >= max(o.p99_ns) THEN max(o.p99_ns) END AS others_p99_ns,
        s.evidence_slowest,
        s.first_time_ns,
        s.last_time_ns
    FROM slow AS s
    LEFT JOIN fellows AS f ON f.broker_address = s.broker_address AND f.broker_port = s.broker_port
    LEFT JOIN slow AS o
        ON o.api_name = s.api_name AND o.kind = s.kind AND o.broker_address = f.other_address AND o.broker_port = f.other_port
    WHERE s.p99_ns >= ms(50)
    GROUP BY
        s.api_name, s.kind, s.broker_address, s.broker_port, s.requests, s.p50_ns, s.p99_ns, s.evidence_slowest,
        s.first_time_ns, s.last_time_ns
),
elsewhere AS (
    SELECT
        c.api_name,
        c.kind,
        c.broker_address,
        c.broker_port,
        count(*) AS requests,
        count(*) FILTER (WHERE x.broker_ns >= greatest(10e0 * c.p50_ns, 5e7)) AS slow_requests
    FROM compared AS c
    JOIN fellows AS f ON f.broker_address = c.broker_address AND f.broker_port = c.broker_port
    JOIN timed AS x
        ON x.api_name = c.api_name AND x.kind = c.kind AND x.broker_address = f.other_address AND x.broker_port = f.other_port
    WHERE c.others_p99_ns IS NULL
    GROUP BY c.api_name, c.kind, c.broker_address, c.broker_port
),
found AS (
    SELECT
        c.api_name,
        c.kind,
        c.broker_address || ':' || CAST(c.broker_port AS STRING) AS broker,
        c.broker_address AS host,
        CASE WHEN c.others_p99_ns IS NULL THEN c.p50_ns END AS p50_ns,
        c.p99_ns,
        c.others_p99_ns,
        CASE WHEN c.others_p99_ns IS NULL AND c.kind = 'produce_acks_all' THEN 'or that of a follower' END AS or_follower,
        CASE
            WHEN c.others_p99_ns IS NOT NULL THEN 'high'
            WHEN sum(x.broker_ns) FILTER (WHERE x.broker_ns >= ms(500)) >= impact('slow_ns') THEN 'medium'
            ELSE 'info'
        END AS severity,
        count(*) AS slow_requests,
        count(p.log_total_ns) AS logged,
        sum(p.log_total_ns) AS total_ns,
        sum(p.log_local_ns) AS local_ns,
        sum(p.log_remote_ns) AS remote_ns,
        sum(p.log_queue_ns) AS request_queue_ns,
        sum(p.log_response_queue_ns) AS response_queue_ns,
        sum(p.log_send_ns) AS send_ns,
        c.p99_ns AS weight,
        c.evidence_slowest,
        c.first_time_ns,
        c.last_time_ns
    FROM compared AS c
    JOIN timed AS x
        ON x.broker_address = c.broker_address AND x.broker_port = c.broker_port AND x.api_name = c.api_name AND x.kind = c.kind
    LEFT JOIN logged_parts AS p ON p.exchange = x.exchange
    LEFT JOIN elsewhere AS e
        ON e.broker_address = c.broker_address AND e.broker_port = c.broker_port AND e.api_name = c.api_name AND e.kind = c.kind
    WHERE x.broker_ns >= CASE
        WHEN c.others_p99_ns IS NULL THEN greatest(10e0 * c.p50_ns, 5e7)
        ELSE greatest(3e0 * c.others_p99_ns, 5e7) END
    GROUP BY
        c.api_name, c.kind, c.broker_address, c.broker_port, c.requests, c.p50_ns, c.p99_ns, c.others_p99_ns, c.evidence_slowest,
        c.first_time_ns, c.last_time_ns, e.requests, e.slow_requests
    HAVING count(*) >= 10 AND (c.others_p99_ns IS NOT NULL OR (count(DISTINCT floor(x.request_time_ns / s(1))) >= 5
            AND (count(*) FILTER (WHERE x.broker_ns >= ms(100)) >= 10 OR count(*) >= 20)))
        AND (coalesce(e.slow_requests, 0) < 5 OR e.slow_requests * c.requests < 2 * count(*) * e.requests)
),
-- Without a log, or where no part is most of it, the part is null.
parts AS (
    SELECT
        *,
        CASE
            WHEN logged * 2 < slow_requests THEN NULL
            WHEN local_ns * 2 > total_ns THEN 'work on this broker (local: its disk and locks)'
            WHEN remote_ns * 2 > total_ns THEN 'waiting for its followers (remote)'
            WHEN request_queue_ns * 2 > total_ns THEN 'waiting for a free handler thread (request queue)'
            WHEN response_queue_ns * 2 > total_ns THEN 'waiting for a free network thread (response queue)'
            WHEN send_ns * 2 > total_ns THEN 'sending the reply'
        END AS log_part
    FROM found
)
SELECT
    api_name,
    kind,
    broker,
    host,
    p50_ns,
    p99_ns,
    others_p99_ns,
    CASE WHEN log_part IS NULL THEN or_follower END AS or_follower,
    log_part,
    CASE WHEN log_part IS NOT NULL
        THEN CAST(greatest(local_ns, remote_ns, request_queue_ns, response_queue_ns, send_ns) AS DOUBLE) / total_ns END AS log_share,
    severity,
    slow_requests,
    weight,
    evidence_slowest,
    first_time_ns,
    last_time_ns
FROM parts
