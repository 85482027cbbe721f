-- Requests that were not alone on their way: between the same two hosts another connection had a large request under way, of more than
-- 3,000 bytes, when the last byte of this one came by. Asked only where the capture was not taken beside the broker and the way there
-- is not quiet (`part_ways`). Moments meet in steps of 2^24 ns (17 ms), of what takes longer than a second of 2^30 ns; of that its first
-- minute counts.
WITH sent AS (
    SELECT x.part, x.exchange, x.request_time_ns, x.request_end_ns, x.request_bytes, x.marks,
        -- Without ACK and reply it may be under way for as long as anybody looks.
        coalesce(x.ack_time_ns, x.response_time_ns, CASE WHEN x.status <> 'no_reply_expected' THEN x.request_time_ns + s(60) END)
            AS under_way_to_ns,
        l.tap, l.client_address, l.broker_address
    FROM raw_exchanges AS x
    JOIN connection_context AS l ON l.part = x.part
    WHERE NOT l.is_beside AND NOT l.is_quiet
),
far AS (
    SELECT *, CASE WHEN under_way_to_ns <= request_time_ns + s(1) THEN two_to(24) ELSE two_to(30) END AS step_ns FROM sent
),
steps AS (
    SELECT CAST(a.n * 8 + b.n AS BIGINT) AS n
    FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7)) AS a(n)
    CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7)) AS b(n)
),
large AS (
    SELECT f.*, f.request_time_ns - f.request_time_ns % f.step_ns + s.n * f.step_ns AS step
    FROM far AS f
    JOIN steps AS s ON f.request_time_ns - f.request_time_ns % f.step_ns + s.n * f.step_ns <= f.under_way_to_ns
    WHERE f.request_bytes > 3000
),
small AS (
    SELECT f.*, w.step_ns AS of_step_ns, f.request_end_ns - f.request_end_ns % w.step_ns AS step
    FROM far AS f CROSS JOIN (VALUES (two_to(24)), (two_to(30))) AS w (step_ns)
    WHERE (f.marks & mark('IDLE')) <> 0
)
SELECT f.exchange
FROM small AS f
JOIN large AS o
    ON o.tap = f.tap AND o.client_address = f.client_address AND o.broker_address = f.broker_address
    AND o.step_ns = f.of_step_ns AND o.step = f.step
WHERE o.part <> f.part AND o.request_time_ns <= f.request_end_ns
    AND o.under_way_to_ns >= f.request_end_ns
GROUP BY f.exchange
