-- How many connections begin and end, when? One row per time slot and broker endpoint in which any did: `opened` whose SYN was seen,
-- `closed` by a FIN, `reset` by a RST, `unanswered` and `refused` attempts that came to nothing. Of endpoints with Kafka alone,
-- without what a proxy carries on.
WITH endpoints AS (
    SELECT broker_address, broker_port FROM connections WHERE is_kafka GROUP BY broker_address, broker_port
),
steps AS (
    SELECT
        c.first_time_ns AS time_ns, c.broker_address, c.broker_port, c.broker_id,
        CASE WHEN f.failed IS NULL THEN 1 ELSE 0 END AS opened, 0 AS closed, 0 AS reset,
        CASE WHEN f.failed = 'none' THEN 1 ELSE 0 END AS unanswered,
        CASE WHEN f.failed = 'reset' THEN 1 ELSE 0 END AS refused
    FROM connections AS c LEFT JOIN connections_seen AS f ON f.connection = c.connection
    WHERE c.seen_from = 'syn' AND c.forwarded_from IS NULL
    UNION ALL
    SELECT
        c.last_time_ns, c.broker_address, c.broker_port, c.broker_id, 0,
        CASE WHEN c.close = 'fin' THEN 1 ELSE 0 END,
        CASE WHEN c.close = 'rst' THEN 1 ELSE 0 END, 0, 0
    FROM connections AS c LEFT JOIN connections_seen AS f ON f.connection = c.connection
    WHERE c.close <> 'none' AND f.failed IS NULL AND c.forwarded_from IS NULL
)
SELECT
    CASE WHEN s.every_ns > 0 THEN t.time_ns - t.time_ns % s.every_ns END AS slot_ns,
    t.broker_address,
    t.broker_port,
    max(t.broker_id) AS broker_id,
    CAST(sum(t.opened) AS BIGINT) AS opened,
    CAST(sum(t.closed) AS BIGINT) AS closed,
    CAST(sum(t.reset) AS BIGINT) AS reset,
    CAST(sum(t.unanswered) AS BIGINT) AS unanswered,
    CAST(sum(t.refused) AS BIGINT) AS refused
FROM steps AS t
    JOIN endpoints AS e ON e.broker_address = t.broker_address AND e.broker_port = t.broker_port
    CROSS JOIN settings AS s
GROUP BY
    CASE WHEN s.every_ns > 0 THEN t.time_ns - t.time_ns % s.every_ns END, t.broker_address, t.broker_port
ORDER BY slot_ns, broker_address, broker_port
