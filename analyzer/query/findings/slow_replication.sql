-- severity: medium
-- rank: 26
-- when: entries having count(*) > 0 AND (SELECT count(DISTINCT kind) FROM exchanges WHERE kind IN ('produce_acks_1', 'produce_acks_all')) = 2
-- says: Produce to {topic} on {broker} takes {all_p99_ns} (p99) with acks=all and {one_p99_ns} with acks=1: the followers are slow
-- do: Look at the followers of this broker: disks, network, replica fetchers[; follower fetches come from {followers|address|addresses}].
-- look: kanalyze brokers
WITH written AS (
    SELECT DISTINCT
        e.exchange,
        coalesce(e.topic, e.topic_id) AS topic
    FROM entries AS e
    WHERE e.side = 'request'
),
timed AS (
    SELECT
        w.topic,
        x.broker_address || ':' || CAST(x.broker_port AS STRING) AS broker,
        x.kind,
        x.exchange,
        x.request_time_ns,
        x.service_ns AS took_ns,
        row_number() OVER (
            PARTITION BY w.topic, x.broker_address, x.broker_port, x.kind ORDER BY x.service_ns
        ) AS place,
        count(*) OVER (PARTITION BY w.topic, x.broker_address, x.broker_port, x.kind) AS requests
    FROM exchanges AS x JOIN written AS w ON w.exchange = x.exchange
    WHERE x.api_name = 'Produce' AND x.kind IN ('produce_acks_1', 'produce_acks_all') AND x.service_ns IS NOT NULL
        -- Before 2.0 a throttled reply waited for its quota.
        AND x.throttle_time_ms = 0
),
classes AS (
    SELECT
        topic,
        broker,
        kind,
        min(took_ns) FILTER (WHERE place * 100 >= requests * 99) AS p99_ns,
        max_by(exchange, (took_ns, exchange)) AS evidence_slowest,
        min(request_time_ns) AS first_time_ns,
        max(request_time_ns) AS last_time_ns
    FROM timed
    GROUP BY topic, broker, kind
    HAVING max(requests) >= 30
),
fetching AS (
    SELECT
        broker_address || ':' || CAST(broker_port AS STRING) AS broker,
        count(DISTINCT client_address) AS followers
    FROM exchanges
    WHERE kind = 'fetch_follower'
    GROUP BY broker_address || ':' || CAST(broker_port AS STRING)
)
SELECT
    a.topic,
    a.broker,
    a.p99_ns AS all_p99_ns,
    o.p99_ns AS one_p99_ns,
    f.followers,
    a.p99_ns AS weight,
    a.evidence_slowest,
    a.first_time_ns,
    a.last_time_ns
FROM classes AS a
JOIN classes AS o ON o.topic = a.topic AND o.broker = a.broker AND o.kind = 'produce_acks_1'
LEFT JOIN fetching AS f ON f.broker = a.broker
WHERE a.kind = 'produce_acks_all' AND a.p99_ns >= 5 * o.p99_ns
