-- Requests that were not alone on their way: between the same two hosts another connection had a large request under way, of more than
-- 3,000 bytes, when the last byte of this one came by. Asked only where the capture was not taken beside the broker and the way there
-- is not quiet (`part_ways`). Moments meet in steps of 2^24 ns (17 ms); of a longer time its first second counts.
WITH far AS (
    SELECT x.part, x.exchange, x.request_time_ns, x.request_end_ns, x.request_bytes, x.marks,
        least(coalesce(x.ack_time_ns, x.response_time_ns), x.request_time_ns + s(1)) AS under_way_to_ns,
        l.tap, l.client_address, l.broker_address
    FROM raw_exchanges AS x
    JOIN connection_context AS l ON l.part = x.part
    WHERE NOT l.is_beside AND NOT l.is_quiet
),
steps AS (
    SELECT a.n * 8 + b.n AS n
    FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7)) AS a(n)
    CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7)) AS b(n)
),
large AS (
    SELECT f.*, f.request_time_ns - f.request_time_ns % two_to(24) + s.n * two_to(24) AS step
    FROM far AS f
    JOIN steps AS s ON f.request_time_ns - f.request_time_ns % two_to(24) + s.n * two_to(24) <= f.under_way_to_ns
    WHERE f.request_bytes > 3000
)
SELECT f.exchange
FROM far AS f
JOIN large AS o
    ON o.tap = f.tap AND o.client_address = f.client_address AND o.broker_address = f.broker_address
    AND o.step = f.request_end_ns - f.request_end_ns % two_to(24)
WHERE (f.marks & mark('IDLE')) <> 0 AND o.part <> f.part AND o.request_time_ns <= f.request_end_ns
    AND o.under_way_to_ns >= f.request_end_ns
GROUP BY f.exchange
