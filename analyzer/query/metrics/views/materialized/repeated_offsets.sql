-- Offsets that were given again: one row per partition of a Produce whose offset (`base_offset`) is not above one that was acknowledged
-- before (`told_offset`, to `told_exchange`). By seconds: what was acknowledged up to one second is compared with what is asked from the
-- one after the next on. So few rows are put in order, since nearly all partitions are well.
WITH taken AS (
    SELECT
        coalesce(c.cluster, x.broker_address || ':' || CAST(x.broker_port AS STRING)) AS cluster,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        e.exchange,
        e.offset AS base_offset,
        x.request_file,
        x.request_time_ns,
        x.response_time_ns
    FROM entries AS e
    JOIN exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_key = api('Produce') AND e.side = 'response' AND e.offset >= 0 AND no_error(e.error_code)
        AND x.status = 'answered'
),
seconds AS (
    SELECT
        cluster, topic, partition, request_file, response_time_ns // s(1) AS second,
        max(base_offset) AS told_offset, arg_max(exchange, base_offset) AS told_exchange
    FROM taken
    GROUP BY cluster, topic, partition, request_file, response_time_ns // s(1)
),
told AS (
    SELECT
        cluster, topic, partition, request_file, second,
        max(told_offset) OVER so_far AS told_offset,
        arg_max(told_exchange, told_offset) OVER so_far AS told_exchange
    FROM seconds
    WINDOW so_far AS (PARTITION BY cluster, topic, partition, request_file ORDER BY second)
),
asked AS (
    SELECT cluster, topic, partition, request_file, request_time_ns // s(1) AS second, min(base_offset) AS asked_offset
    FROM taken
    GROUP BY cluster, topic, partition, request_file, request_time_ns // s(1)
),
again AS (
    SELECT a.cluster, a.topic, a.partition, a.request_file, a.second, t.told_offset, t.told_exchange
    FROM asked AS a
    ASOF JOIN told AS t
        ON t.cluster = a.cluster AND t.topic = a.topic AND t.partition = a.partition AND t.request_file = a.request_file
        AND a.second - 2 >= t.second
    WHERE a.asked_offset <= t.told_offset
)
SELECT g.cluster, g.topic, g.partition, e.exchange, e.base_offset, e.request_time_ns, g.told_offset, g.told_exchange
FROM again AS g
JOIN taken AS e
    ON e.cluster = g.cluster AND e.topic = g.topic AND e.partition = g.partition AND e.request_file = g.request_file
    AND e.request_time_ns // s(1) = g.second
WHERE e.base_offset <= g.told_offset
