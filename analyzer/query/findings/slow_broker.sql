-- severity: high
-- rank: 12
-- when: exchanges having max(service_ns) FILTER (WHERE kind IN ('produce_acks_1', 'produce_acks_all', 'fetch_backlog')) >= 50000000
-- says: {api_name} p99 is {p99_ns} on broker {broker} and at most {others_p99_ns} on the others: the broker's own time, not the network
-- do: Look at this broker's disks, its followers (acks=all waits for them) and its request handler threads.
-- look: kanalyze latency --broker {broker} --api {api_name}
-- Service time only (no waits behind others, no mutes), at least 30 requests on each side; nearest rank. Ten slow requests at
-- least: two slow ones of 200 are no p99.
WITH slow AS (
    SELECT
        api_name,
        kind,
        broker_address,
        broker_port,
        count(*) AS requests,
        CAST(percentile_disc(0.99) WITHIN GROUP (ORDER BY service_ns) AS BIGINT) AS p99_ns,
        max_by(exchange, (service_ns, exchange)) AS evidence_slowest,
        min(request_time_ns) AS first_time_ns,
        max(request_time_ns) AS last_time_ns
    FROM exchanges
    -- A throttled reply of a broker before 2.0 waited for its quota, and one that does not tell may have.
    WHERE api_key IN (0, 1) AND service_ns IS NOT NULL AND throttle_time_ms = 0
        AND kind IN ('produce_acks_1', 'produce_acks_all', 'fetch_backlog') AND coalesce(role, 'client') = 'client'
    GROUP BY api_name, kind, broker_address, broker_port
    HAVING count(*) >= 30
),
compared AS (
    SELECT
        s.api_name,
        s.kind,
        s.broker_address,
        s.broker_port,
        s.requests,
        s.p99_ns,
        max(o.p99_ns) AS others_p99_ns,
        s.evidence_slowest,
        s.first_time_ns,
        s.last_time_ns
    FROM slow AS s JOIN slow AS o ON o.api_name = s.api_name AND o.kind = s.kind
        AND (o.broker_address <> s.broker_address OR o.broker_port <> s.broker_port)
    WHERE s.p99_ns >= 50000000
    GROUP BY
        s.api_name, s.kind, s.broker_address, s.broker_port, s.requests, s.p99_ns, s.evidence_slowest, s.first_time_ns,
        s.last_time_ns
    HAVING s.p99_ns >= 3 * max(o.p99_ns)
)
SELECT
    c.api_name,
    c.kind,
    c.broker_address || ':' || CAST(c.broker_port AS STRING) AS broker,
    c.requests,
    c.p99_ns,
    c.others_p99_ns,
    count(*) AS slow_requests,
    c.p99_ns AS weight,
    c.evidence_slowest,
    c.first_time_ns,
    c.last_time_ns
FROM compared AS c JOIN exchanges AS x
    ON x.broker_address = c.broker_address AND x.broker_port = c.broker_port AND x.api_name = c.api_name AND x.kind = c.kind
WHERE x.service_ns >= greatest(3 * c.others_p99_ns, 50000000) AND x.throttle_time_ms = 0
    AND coalesce(x.role, 'client') = 'client'
GROUP BY
    c.api_name, c.kind, c.broker_address, c.broker_port, c.requests, c.p99_ns, c.others_p99_ns, c.evidence_slowest, c.first_time_ns, c.last_time_ns
HAVING count(*) >= 10
