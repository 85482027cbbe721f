-- Which requests of which clients took long, whatever the cause? One row per client, broker and API: `slow` of its `requests` waited
-- 500 ms or longer, `waited_ns` of its time, without what a throttle time accounts for and what waits for data or members; or waited a second
-- and more when the capture ended. Who asks for work
-- (CreateTopics ...) waits until it is done, by design, but does wait. They are told where that is
-- a second, and a twentieth of the time from the client's first request to its last reply.
WITH waits AS (
    SELECT
        x.client_address,
        x.client_id,
        x.broker_address,
        x.broker_port,
        x.api_name,
        x.transactional_id,
        x.connection,
        x.exchange,
        request_key(c, x) AS request,
        x.request_time_ns,
        x.response_time_ns,
        x.latency_ns - coalesce(x.throttle_ns, 0) AS waited_ns,
        0 AS left_waiting,
        true AS is_sure
    FROM exchanges AS x
    LEFT JOIN kinds AS k ON k.kind = x.kind
    LEFT JOIN connections AS c ON c.connection = x.connection
    WHERE x.latency_ns - coalesce(x.throttle_ns, 0) >= ms(500) AND is_client(x.role) AND x.api_name IS NOT NULL
        AND (coalesce(k.reach, 'broker') = 'broker' OR x.kind = 'wait')
    UNION ALL
    SELECT
        x.client_address,
        x.client_id,
        x.broker_address,
        x.broker_port,
        x.api_name,
        x.transactional_id,
        x.connection,
        x.exchange,
        request_key(c, x) AS request,
        x.request_time_ns,
        u.until_ns,
        u.until_ns - x.request_end_ns,
        1,
        coalesce(c.replies > 0 AND c.one_way IS NULL AND c.broker_gap_bytes = 0, false)
    FROM exchanges AS x
    JOIN pending_requests AS u ON u.exchange = x.exchange
    LEFT JOIN connections AS c ON c.connection = x.connection
    WHERE is_client(x.role) AND u.is_lost AND u.until_ns - u.request_end_ns >= s(1)
),
-- Requests that wait together cost their client this time once.
lasting AS (
    SELECT
        *,
        greatest(end_ns - greatest(request_time_ns, coalesce(max(end_ns) OVER before, 0)), 0) AS lost_ns
    FROM (SELECT *, CAST(request_time_ns AS HUGEINT) + waited_ns AS end_ns FROM waits) AS w
    WINDOW before AS (
        PARTITION BY client_address, client_id, broker_address, broker_port, api_name ORDER BY request_time_ns, exchange
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),
slow AS (
    SELECT
        client_address,
        client_id,
        broker_address,
        broker_port,
        api_name,
        count(*) AS slow,
        -- One that two capture points saw is one.
        count(DISTINCT CASE WHEN waited_ns >= s(5) AND is_sure THEN request END) AS very_slow,
        nullif(sum(left_waiting), 0) AS left_waiting,
        count(transactional_id) AS of_transactions,
        sum(lost_ns) AS waited_ns,
        max(waited_ns) AS longest_ns,
        min_by(connection, (request_time_ns, exchange)) AS connection,
        max_by(exchange, (waited_ns, exchange)) AS evidence_slowest,
        min(request_time_ns) AS first_time_ns,
        max(response_time_ns) AS last_time_ns
    FROM lasting
    GROUP BY client_address, client_id, broker_address, broker_port, api_name
),
asked AS (
    SELECT
        x.client_address,
        x.client_id,
        x.broker_address,
        x.broker_port,
        x.api_name,
        count(*) AS requests,
        min(x.request_time_ns) AS first_ns,
        max(coalesce(u.until_ns, x.response_end_ns, x.request_end_ns)) AS last_ns
    FROM exchanges AS x
    LEFT JOIN pending_requests AS u ON u.exchange = x.exchange
    JOIN (SELECT client_address, client_id FROM slow GROUP BY client_address, client_id) AS c
        ON c.client_address = x.client_address AND c.client_id IS NOT DISTINCT FROM x.client_id
    GROUP BY x.client_address, x.client_id, x.broker_address, x.broker_port, x.api_name
),
timed AS (
    SELECT
        *,
        max(last_ns) OVER of_client - min(first_ns) OVER of_client AS lasted_ns
    FROM asked
    WINDOW of_client AS (PARTITION BY client_address, client_id)
)
SELECT
    who(s) AS who,
    s.client_address,
    s.broker_address || ':' || CAST(s.broker_port AS STRING) AS broker,
    s.api_name,
    s.slow,
    t.requests,
    CASE WHEN s.left_waiting > 0 THEN 'not all of them had a reply when the capture ended' END AS left_waiting,
    TRY_CAST(s.waited_ns AS BIGINT) AS waited_ns,
    s.longest_ns,
    CASE
        WHEN s.api_name IN ('JoinGroup', 'SyncGroup', 'Heartbeat', 'LeaveGroup', 'OffsetCommit', 'TxnOffsetCommit', 'OffsetFetch', 'ConsumerGroupHeartbeat')
            THEN 'This broker coordinates the group: what it stores (members, commits) waits for the replicas of its partition of __consumer_offsets, and other requests of the group wait behind that. See whether these are in sync (kafka-topics.sh --describe), and the log of the broker at that time.'
        WHEN s.api_name = 'InitProducerId' AND s.of_transactions = 0
            THEN 'These producers are idempotent, without transactions: any broker gives them an id, and asks the active controller for more when it has none left. See the logs of both at that time.'
        WHEN s.api_name IN ('InitProducerId', 'AddPartitionsToTxn', 'AddOffsetsToTxn', 'EndTxn')
            THEN 'This broker coordinates the transaction: what it stores waits for the replicas of its partition of __transaction_state. See whether these are in sync (kafka-topics.sh --describe), and the log of the broker at that time.'
        WHEN s.api_name = 'ListOffsets'
            THEN 'Where it searches by time (the evidence shows the timestamp), the broker reads indexes of the partition, which takes long where they lie in remote storage: ask less often, and look into the log of the broker at that time.'
        ELSE 'See where the time goes (`kanalyze latency`), open the evidence, and look into the log of the broker at that time.'
    END AS advice,
    CASE WHEN s.very_slow >= 3 THEN 'medium' ELSE 'info' END AS severity,
    CAST(least(s.waited_ns, max_bigint()) AS BIGINT) AS weight,
    s.connection,
    s.evidence_slowest,
    s.first_time_ns,
    s.last_time_ns
FROM slow AS s
JOIN timed AS t
    ON t.client_address = s.client_address AND t.client_id IS NOT DISTINCT FROM s.client_id AND t.api_name = s.api_name
    AND t.broker_address = s.broker_address AND t.broker_port = s.broker_port
WHERE s.waited_ns >= impact('slow_share') * t.lasted_ns AND s.waited_ns >= impact('slow_ns')
