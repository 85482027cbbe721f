-- Error codes with Apache's names, the field that each is in, and whether it is normal operation by the rules of expected_errors:
-- always; for some seconds in a row for one client and partition, or from its first time on; when a later request is answered.
-- `expected` true: normal operation; false: a failure; null: not known.
WITH told AS (
    SELECT
        e.exchange,
        e.part,
        e.side,
        e.code,
        e.api_key,
        e.field,
        e.entity,
        e.topic,
        e.topic_id,
        e.partition,
        l.connection,
        l.client_address,
        l.broker_address,
        l.broker_port,
        l.role,
        coalesce(x.rule, g.rule) AS rule,
        CASE WHEN x.rule IS NULL THEN g.seconds ELSE x.seconds END AS seconds,
        x.followed_by,
        g.client_only
    FROM raw_errors AS e
    JOIN connection_context AS l ON l.part = e.part
    LEFT JOIN expected_errors AS x ON x.api_key = e.api_key AND x.code = e.code
    -- Rules for all APIs without a rule of their own.
    LEFT JOIN expected_errors AS g ON g.api_key IS NULL AND g.code = e.code
    WHERE l.is_kafka
),
-- One row per exchange and thing that failed, for the rules that need a time and a client.
moments AS (
    SELECT
        t.client_address,
        x.client_id,
        t.api_key,
        t.code,
        coalesce(t.topic_id, t.topic) AS topic_key,
        t.partition,
        t.entity,
        t.exchange,
        t.side,
        max(t.rule) AS rule,
        max(t.seconds) AS seconds,
        max(t.followed_by) AS followed_by,
        max(t.broker_address) AS broker_address,
        max(t.broker_port) AS broker_port,
        max(coalesce(x.response_time_ns, x.request_time_ns)) AS time_ns
    FROM told AS t JOIN raw_exchanges AS x ON x.exchange = t.exchange
    -- True for all such exchanges, so that most others need not be read.
    WHERE x.error_code <> 0 AND (t.rule = 'passing' OR t.rule = 'first_use' OR t.rule = 'followed')
    GROUP BY
        t.client_address, x.client_id, t.api_key, t.code, coalesce(t.topic_id, t.topic), t.partition, t.entity, t.exchange, t.side
),
spaced AS (
    SELECT
        *,
        -- An error after a quiet time belongs to another failover.
        CASE WHEN time_ns - lag(time_ns) OVER by_client > seconds * CAST(1000000000 AS BIGINT) THEN 1 ELSE 0 END AS again
    FROM moments
    WINDOW by_client AS (
        PARTITION BY client_address, client_id, api_key, code, topic_key, partition, entity ORDER BY time_ns, exchange, side
    )
),
runs AS (
    SELECT
        *,
        CASE WHEN rule = 'first_use' THEN 0 ELSE sum(again) OVER by_client END AS run
    FROM spaced
    WINDOW by_client AS (
        PARTITION BY client_address, client_id, api_key, code, topic_key, partition, entity
        ORDER BY time_ns, exchange, side ROWS UNBOUNDED PRECEDING
    )
),
answers AS (
    SELECT l.client_address, x.client_id, l.broker_address, l.broker_port, x.api_key, max(x.request_time_ns) AS last_ns
    FROM raw_exchanges AS x JOIN connection_context AS l ON l.part = x.part
    WHERE x.api_key BETWEEN 15 AND 18 AND (x.api_key = 15 OR x.api_key = 18) AND x.error_code = 0
        AND EXISTS (SELECT 1 FROM moments AS m WHERE m.rule = 'followed')
    GROUP BY l.client_address, x.client_id, l.broker_address, l.broker_port, x.api_key
),
judged AS (
    SELECT
        r.exchange,
        r.side,
        r.code,
        r.topic_key,
        r.partition,
        r.entity,
        CASE
            WHEN r.rule = 'followed' THEN coalesce(a.last_ns >= r.time_ns, false)
            ELSE r.time_ns - min(r.time_ns) OVER (
                PARTITION BY r.client_address, r.client_id, r.api_key, r.code, r.topic_key, r.partition, r.entity, r.run
            ) <= r.seconds * CAST(1000000000 AS BIGINT)
        END AS expected
    FROM runs AS r
    LEFT JOIN answers AS a
        ON a.api_key = r.followed_by AND a.client_address = r.client_address
        AND coalesce(a.client_id, '') = coalesce(r.client_id, '')
        AND a.broker_address = r.broker_address AND a.broker_port = r.broker_port
)
SELECT
    t.exchange,
    t.connection,
    t.side,
    t.code,
    n.name,
    n.retriable,
    CASE
        WHEN t.rule = 'always' THEN true
        WHEN t.rule = 'never' THEN CASE WHEN NOT t.client_only OR coalesce(t.role, 'client') = 'client' THEN false END
        ELSE j.expected
    END AS expected,
    f.level,
    f.path,
    t.entity,
    coalesce(t.topic, m.topic) AS topic,
    t.topic_id,
    t.partition
FROM told AS t
LEFT JOIN error_names AS n ON n.code = t.code
LEFT JOIN error_fields AS f ON f.api_key = t.api_key AND f.side = t.side AND f.field = t.field
LEFT JOIN topic_names AS m ON m.topic_id = t.topic_id
LEFT JOIN judged AS j
    ON j.exchange = t.exchange AND j.side = t.side AND j.code = t.code
    AND coalesce(j.topic_key, '') = coalesce(t.topic_id, t.topic, '')
    AND coalesce(j.partition, -1) = coalesce(t.partition, -1)
    AND coalesce(j.entity, '') = coalesce(t.entity, '')
