-- What was lost or refused, of which each unit is to be explained? One row per request (of `connections`: per connection) and account
-- that it belongs to:
--   time         answered requests that do not wait by design, and work that clients ask for (CreateTopics ...): their parts add up to `waited_ns`
--   refused      requests whose reply has an error that is not expected; `what` is the first of these errors by its code
--   unanswered   requests without a reply when their connection or the capture ended, waits by design left out (but not a Fetch that waits
--                10 s longer than it asked to), and replies that no request in the capture asks for, on connections that are there from the
--                beginning, without a gap; `what` is their status
--   connections  those that were never answered, answered no request, ended after ApiVersions alone, or were reset or closed by the broker:
--                the first of these that is true, or that the client reset them. Clients open some that they then do not need: whom another
--                connection to the same broker serves lost nothing after ApiVersions
--   rebalance    requests that waited for other members of their group (JoinGroup, SyncGroup)
-- `topics` are those of the errors. `at_ns` is when it began; `slow_ns` is `waited_ns` without a throttle, of
-- requests for which that is 500 ms or more. The parts of what nobody knows are `unknown_ns`. An answer
-- about some accounts computes these alone: each SELECT below has one account, and no step is held as a table.
WITH refusals AS NOT MATERIALIZED (
    SELECT
        exchange, min(code) AS code, arg_min(coalesce(name, 'error ' || CAST(code AS STRING)), code) AS name,
        list(DISTINCT coalesce(topic, topic_id)) FILTER (WHERE coalesce(topic, topic_id) IS NOT NULL) AS topics
    FROM errors
    WHERE expected IS NOT TRUE
    GROUP BY exchange
),
of_requests AS NOT MATERIALIZED (
    SELECT 'refused' AS account, r.name AS what, r.exchange, CAST(NULL AS BIGINT) AS waited_ns, r.topics FROM refusals AS r
    UNION ALL
    SELECT
        'unanswered', u.status, u.exchange, u.waited_ns, NULL
    FROM (
        SELECT
            x.status, x.exchange,
            CASE x.status WHEN 'pending' THEN p.until_ns WHEN 'orphan_reply' THEN NULL ELSE wait_end_ns(c, x) END
                - coalesce(x.request_end_ns, x.request_time_ns) AS waited_ns
        FROM exchanges AS x
        LEFT JOIN connections AS c ON c.connection = x.connection
        LEFT JOIN pending_requests AS p ON p.exchange = x.exchange
        WHERE x.status IN ('closed', 'abandoned', 'pending', 'orphan_reply')
            AND (x.status = 'abandoned' OR p.is_lost
                OR (x.status <> 'pending' AND coalesce(x.api_key, -1) NOT IN (api('Fetch', 'JoinGroup', 'SyncGroup', 'ShareFetch'))))
            AND (x.status <> 'orphan_reply'
                OR (c.seen_from = 'syn' AND c.one_way IS NULL AND c.client_gaps + c.broker_gaps = 0 AND c.client_stream_bytes > 0))
    ) AS u
),
served AS NOT MATERIALIZED (
    SELECT c.client_address, coalesce(r.client_id, '') AS client_id, c.broker_address, c.broker_port
    FROM connections AS c JOIN connection_requests AS r ON r.connection = c.connection
    WHERE r.requests > r.hello_requests
    GROUP BY c.client_address, coalesce(r.client_id, ''), c.broker_address, c.broker_port
),
of_connections AS NOT MATERIALIZED (
    SELECT
        *,
        CASE
            WHEN never_answered() THEN 'never answered'
            WHEN is_kafka AND seen_from = 'syn' AND requests > 0 AND replies = 0 AND close <> 'none' AND one_way IS NULL AND is_quiet IS NOT TRUE
                THEN 'answered no request'
            WHEN is_kafka AND seen_from = 'syn' AND close <> 'none' AND replies > 0 AND is_hello
                THEN CASE WHEN NOT is_served THEN 'ended after ApiVersions' END
            WHEN is_kafka AND close = 'rst' AND closed_by = 'client' THEN 'reset by the client'
            WHEN is_kafka AND close = 'rst' AND closed_by = 'broker' THEN 'reset by the broker'
            WHEN is_kafka AND closed_by = 'broker' THEN 'closed by the broker'
        END AS what
    FROM (
        SELECT
            c.*, r.client_id, r.exchange, r.requests = r.hello_requests AS is_hello,
            s.client_address IS NOT NULL AS is_served,
            -- Who asks for no reply (acks=0) misses none.
            r.requests > 0 AND r.answered + r.unanswered + r.pending + r.orphan_replies = 0 AS is_quiet
        FROM connections AS c
            LEFT JOIN connection_requests AS r ON r.connection = c.connection
            LEFT JOIN served AS s
                ON s.client_address = c.client_address AND s.client_id = coalesce(r.client_id, '') AND s.broker_address = c.broker_address
                AND s.broker_port = c.broker_port
    ) AS c
)
SELECT
    'time' AS account,
    CAST(NULL AS STRING) AS what,
    x.exchange,
    x.connection,
    NOT is_client(x.role) AS between_brokers,
    x.api_name,
    x.client_id,
    x.client_address,
    x.principal,
    x.broker_id,
    x.broker_address,
    x.broker_port,
    x.group_id,
    coalesce(x.request_time_ns, x.response_time_ns) AS at_ns,
    coalesce(x.response_time_ns, x.request_time_ns) AS until_ns,
    x.latency_ns AS waited_ns,
    coalesce(x.queue_part_ns, 0) AS queue_ns,
    coalesce(x.throttle_part_ns, 0) AS throttle_ns,
    coalesce(x.proxy_part_ns, 0) AS proxy_ns,
    coalesce(x.broker_part_ns, 0) AS broker_ns,
    coalesce(x.network_ns, 0) AS network_ns,
    coalesce(x.unknown_ns, x.latency_ns) AS unknown_ns,
    CASE WHEN x.latency_ns - coalesce(x.throttle_ns, 0) >= ms(500) THEN x.latency_ns - coalesce(x.throttle_ns, 0) END AS slow_ns,
    CAST(NULL AS STRING[]) AS topics
FROM answered_work AS x
UNION ALL
-- How long the broker itself took of a wait for members nobody knows.
SELECT
    'rebalance', NULL, x.exchange, x.connection, NOT is_client(x.role), x.api_name,
    x.client_id, x.client_address, x.principal, x.broker_id, x.broker_address, x.broker_port, x.group_id,
    coalesce(x.request_time_ns, x.response_time_ns), coalesce(x.response_time_ns, x.request_time_ns), x.latency_ns,
    coalesce(x.queue_part_ns, 0), coalesce(x.throttle_part_ns, 0), coalesce(x.proxy_part_ns, 0), 0, coalesce(x.network_ns, 0),
    coalesce(x.unknown_ns, x.latency_ns) + coalesce(x.broker_part_ns, 0),
    CASE WHEN x.latency_ns - coalesce(x.throttle_ns, 0) >= ms(500) THEN x.latency_ns - coalesce(x.throttle_ns, 0) END, NULL
FROM exchange_parts AS x
WHERE x.latency_ns IS NOT NULL AND x.kind IN ('join_wait', 'sync_wait')
UNION ALL
SELECT
    o.account, o.what,
    x.exchange,
    x.connection,
    NOT is_client(x.role),
    x.api_name,
    x.client_id,
    x.client_address,
    x.principal,
    x.broker_id,
    x.broker_address,
    x.broker_port,
    x.group_id,
    coalesce(x.request_time_ns, x.response_time_ns),
    coalesce(x.response_time_ns, x.request_time_ns),
    o.waited_ns, 0 * o.waited_ns, 0 * o.waited_ns, 0 * o.waited_ns, 0 * o.waited_ns, 0 * o.waited_ns, o.waited_ns,
    CASE WHEN o.waited_ns >= ms(500) THEN o.waited_ns END,
    o.topics
FROM of_requests AS o JOIN exchanges AS x ON x.exchange = o.exchange
UNION ALL
SELECT
    'connections', what, exchange, connection, NOT is_client(role), NULL, client_id, client_address, principal, broker_id,
    broker_address, broker_port, NULL, first_time_ns, last_time_ns, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM of_connections
WHERE what IS NOT NULL
