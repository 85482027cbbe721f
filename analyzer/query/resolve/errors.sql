-- Error codes with Apache's names, the field that each is in, and whether it is normal operation by the rules of expected_errors:
-- always; for some seconds in a row for one client and partition, or from its first time on; when a later request is answered.
-- `expected` true: normal operation; false: a failure; null: not known.
WITH told AS (
    SELECT * FROM errors_told
),
-- One row per exchange and thing that failed, for the rules that need a time and a client.
moments AS (
    SELECT
        client_address,
        client_id,
        api_key,
        code,
        coalesce(topic_id, topic) AS topic_key,
        partition,
        entity,
        exchange,
        side,
        max(rule) AS rule,
        max(seconds) AS seconds,
        max(followed_by) AS followed_by,
        max(broker_address) AS broker_address,
        max(broker_port) AS broker_port,
        max(time_ns) AS time_ns
    FROM told
    WHERE has_moment
    GROUP BY client_address, client_id, api_key, code, coalesce(topic_id, topic), partition, entity, exchange, side
),
spaced AS (
    SELECT
        *,
        -- An error after a quiet time belongs to another failover.
        CASE WHEN time_ns - lag(time_ns) OVER by_client > seconds * CAST(s(1) AS BIGINT) THEN 1 ELSE 0 END AS again
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
judged AS (
    SELECT
        r.exchange,
        r.side,
        r.code,
        r.topic_key,
        r.partition,
        r.entity,
        CASE WHEN r.rule = 'followed' AND a.last_ns >= r.time_ns THEN true
            -- What the client did next was not captured, or its answer was not.
            WHEN r.rule = 'followed' AND r.seconds IS NULL AND (
                a.unsure_ns >= r.time_ns
                OR r.time_ns = max(r.time_ns) OVER (
                    PARTITION BY r.client_address, r.client_id, r.api_key, r.code, r.topic_key, r.partition, r.entity
                )
            ) THEN NULL
            -- A success in between ends what went on for long.
            ELSE coalesce(
                r.time_ns - greatest(min(r.time_ns) OVER (
                    PARTITION BY r.client_address, r.client_id, r.api_key, r.code, r.topic_key, r.partition, r.entity, r.run
                ), CASE WHEN r.rule = 'followed' THEN coalesce(a.last_ns, 0) ELSE 0 END) <= r.seconds * CAST(s(1) AS BIGINT),
                false
            )
        END AS expected
    FROM runs AS r
    LEFT JOIN client_answers AS a
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
        WHEN t.rule = 'never' THEN CASE WHEN NOT t.client_only OR is_client(t.role) THEN false END
        ELSE j.expected
    END AS expected,
    f.level,
    f.path,
    t.entity,
    CASE WHEN s.code IS NULL THEN t.error_message END AS error_message,
    coalesce(t.topic, m.topic) AS topic,
    t.topic_id,
    t.partition
FROM told AS t
LEFT JOIN error_names AS n ON n.code = t.code
LEFT JOIN error_sentences AS s ON s.code = t.code AND s.bytes = strlen(t.error_message)
LEFT JOIN error_fields AS f ON f.api_key = t.api_key AND f.side = t.side AND f.field = t.field
LEFT JOIN topic_names AS m ON m.topic_id = t.topic_id
LEFT JOIN judged AS j
    ON j.exchange = t.exchange AND j.side = t.side AND j.code = t.code
    AND coalesce(j.topic_key, '') = coalesce(t.topic_id, t.topic, '')
    AND coalesce(j.partition, -1) = coalesce(t.partition, -1)
    AND coalesce(j.entity, '') = coalesce(t.entity, '')
