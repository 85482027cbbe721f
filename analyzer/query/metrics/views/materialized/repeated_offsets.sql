-- Offsets that were given again to other records: one row per partition of a Produce whose offset (`base_offset`) is not above one that
-- was acknowledged before (`told_offset`, to `told_exchange`), and whose batch was not sent before, as sequences of an idempotent
-- producer tell. By seconds: what was acknowledged up to one second is compared with what is asked from the one after the next on. So few
-- rows are put in order, since nearly all partitions are well.
WITH taken AS (
    SELECT
        x.connection,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        e.exchange,
        e.offset AS base_offset,
        x.kind = 'produce_acks_1' AS is_never_resent,
        x.request_file,
        x.request_time_ns,
        x.response_time_ns
    FROM entries AS e
    JOIN exchanges AS x ON x.exchange = e.exchange
    WHERE x.api_key = api('Produce') AND e.side = 'response' AND e.offset >= 0 AND no_error(e.error_code)
        AND x.status = 'answered'
),
clusters AS (
    SELECT connection, coalesce(cluster, broker_address || ':' || CAST(broker_port AS STRING)) AS cluster FROM connections
),
seconds AS (
    SELECT
        c.cluster, t.topic, t.partition, t.request_file, t.second,
        max(t.told_offset) AS told_offset, arg_max(t.told_exchange, t.told_offset) AS told_exchange
    FROM (
        SELECT
            connection, topic, partition, request_file, response_time_ns // s(1) AS second,
            max(base_offset) AS told_offset, arg_max(exchange, base_offset) AS told_exchange
        FROM taken
        GROUP BY connection, topic, partition, request_file, response_time_ns // s(1)
    ) AS t
    JOIN clusters AS c ON c.connection = t.connection
    GROUP BY c.cluster, t.topic, t.partition, t.request_file, t.second
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
    SELECT c.cluster, t.topic, t.partition, t.request_file, t.second, min(t.asked_offset) AS asked_offset
    FROM (
        SELECT connection, topic, partition, request_file, request_time_ns // s(1) AS second, min(base_offset) AS asked_offset
        FROM taken
        GROUP BY connection, topic, partition, request_file, request_time_ns // s(1)
    ) AS t
    JOIN clusters AS c ON c.connection = t.connection
    GROUP BY c.cluster, t.topic, t.partition, t.request_file, t.second
),
again AS (
    SELECT a.cluster, a.topic, a.partition, a.request_file, a.second, t.told_offset, t.told_exchange
    FROM asked AS a
    ASOF JOIN told AS t
        ON t.cluster = a.cluster AND t.topic = a.topic AND t.partition = a.partition AND t.request_file = a.request_file
        AND a.second - 2 >= t.second
    WHERE a.asked_offset <= t.told_offset
),
-- Greatest sequences of the seconds, and those before them: only seconds with new ones, or with offsets given again, are looked into.
sequences AS (
    SELECT
        topic, partition, producer_id, producer_epoch, second, highest,
        max(highest) OVER (
            PARTITION BY topic, partition, producer_id, producer_epoch ORDER BY second
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS highest_before
    FROM (
        SELECT topic, partition, producer_id, producer_epoch, request_time_ns // s(1) AS second, max(base_sequence) AS highest
        FROM produced
        GROUP BY topic, partition, producer_id, producer_epoch, request_time_ns // s(1)
    ) AS p
),
numbered AS (
    SELECT
        p.exchange,
        p.topic,
        p.partition,
        p.producer_id,
        p.base_sequence,
        greatest(q.highest_before, max(p.base_sequence) OVER (
            PARTITION BY p.topic, p.partition, p.producer_id, p.producer_epoch, q.second ORDER BY p.request_time_ns, p.exchange
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )) AS sequence_before
    FROM sequences AS q
    JOIN (SELECT topic, partition, second FROM again GROUP BY topic, partition, second) AS g
        ON g.topic = q.topic AND g.partition = q.partition AND g.second = q.second
    JOIN produced AS p
        ON p.topic = q.topic AND p.partition = q.partition AND p.producer_id IS NOT DISTINCT FROM q.producer_id
        AND p.producer_epoch IS NOT DISTINCT FROM q.producer_epoch AND p.request_time_ns // s(1) = q.second
    WHERE coalesce(q.producer_id, -1) < 0 OR q.highest_before IS NULL OR q.highest > q.highest_before
),
-- With acks=1 nothing is sent twice: these count where their batch was not read, too.
unnumbered AS (
    SELECT t.exchange, t.topic, t.partition
    FROM (
        SELECT topic, partition, request_file, second, max(told_offset) AS told_offset
        FROM again
        GROUP BY topic, partition, request_file, second
    ) AS g
    JOIN taken AS t
        ON t.topic = g.topic AND t.partition = g.partition AND t.request_file = g.request_file AND t.request_time_ns // s(1) = g.second
    WHERE t.is_never_resent AND t.base_offset <= g.told_offset
),
-- Put together first: joined with all seconds of its partition, each would be a thousand rows.
found AS MATERIALIZED (
    SELECT t.*
    FROM (
        SELECT exchange, topic, partition
        FROM numbered
        WHERE coalesce(producer_id, -1) < 0 OR base_sequence > sequence_before
        GROUP BY exchange, topic, partition
        UNION ALL
        SELECT u.exchange, u.topic, u.partition
        FROM unnumbered AS u
        LEFT JOIN (
            SELECT exchange, topic, partition FROM produced WHERE exchange IN (SELECT exchange FROM unnumbered)
        ) AS p ON p.exchange = u.exchange AND p.topic = u.topic AND p.partition = u.partition
        WHERE p.exchange IS NULL
    ) AS n
    JOIN taken AS t ON t.exchange = n.exchange AND t.topic = n.topic AND t.partition = n.partition
)
SELECT g.cluster, g.topic, g.partition, e.exchange, e.base_offset, e.request_time_ns, g.told_offset, g.told_exchange
FROM found AS e
JOIN clusters AS c ON c.connection = e.connection
JOIN again AS g
    ON g.cluster = c.cluster AND g.topic = e.topic AND g.partition = e.partition AND g.request_file = e.request_file
    AND g.second = e.request_time_ns // s(1)
WHERE e.base_offset <= g.told_offset
