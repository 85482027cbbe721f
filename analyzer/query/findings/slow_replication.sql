-- severity: medium
-- rank: 26
-- when: exchanges having bool_or(kind = 'produce_acks_1') AND bool_or(kind = 'produce_acks_all')
-- says: Produce to {topic} on {broker} takes {all_p99_ns} (p99) with acks=all and {one_p99_ns} with acks=1: the followers are slow
-- do: Look at the followers of this broker: disks, network, replica fetchers[; follower fetches come from {followers|address|addresses}].
-- look: kanalyze brokers
WITH timed AS (
    SELECT exchange, broker_address, broker_port, kind, request_time_ns, service_ns
    FROM exchanges
    WHERE api_key = 0 AND kind IN ('produce_acks_1', 'produce_acks_all') AND service_ns IS NOT NULL
        -- Before 2.0 a throttled reply waited for its quota.
        AND throttle_time_ms = 0
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
        x.broker_address || ':' || CAST(x.broker_port AS STRING) AS broker,
        x.kind,
        CAST(percentile_disc(0.99) WITHIN GROUP (ORDER BY x.service_ns) AS BIGINT) AS p99_ns,
        max_by(x.exchange, (x.service_ns, x.exchange)) AS evidence_slowest,
        min(x.request_time_ns) AS first_time_ns,
        max(x.request_time_ns) AS last_time_ns
    FROM timed AS x JOIN written AS w ON w.exchange = x.exchange
    GROUP BY w.topic, x.broker_address, x.broker_port, x.kind
    HAVING count(*) >= 30
),
fetching AS (
    SELECT
        broker_address || ':' || CAST(broker_port AS STRING) AS broker,
        count(DISTINCT client_address) AS followers
    FROM exchanges
    WHERE api_key = 1 AND kind = 'fetch_follower'
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
