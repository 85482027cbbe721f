-- Requests that were not alone on their way: between the same two hosts another connection had a large request under way, of more than
-- 3,000 bytes, when the last byte of this one came by; one that the connection or the capture cut off counts too. The same for all between two hosts where strangers share the way or it delays by
-- itself: of the requests of which an ACK came sooner than any host delays it, more than one in thirty was there 2 ms later than an idle
-- way takes. (Few of those that wait for a busy way have an ACK of their own, as their replies come soon. Behind a request that has no
-- reply, or none yet, the next one may be acknowledged late: that tells nothing.) Asked only where the capture was not taken beside
-- the broker and the way there is not quiet (`part_ways`). Moments meet in steps of 2^24 ns (17 ms), of what takes longer than a second
-- of 2^30 ns; of that its first minute counts.
WITH sent AS (
    SELECT x.part, x.exchange, x.request_time_ns, x.request_end_ns, x.request_bytes, x.queue_ns, x.marks,
        -- Without ACK and reply it may be under way for as long as anybody looks.
        coalesce(
            CASE WHEN (x.marks & mark('NEAR')) = 0 THEN x.ack_time_ns END,
            x.response_time_ns,
            CASE WHEN x.status <> 'no_reply_expected' THEN x.request_time_ns + s(60) END
        ) AS under_way_to_ns,
        x.ack_time_ns - x.request_end_ns
            - greatest(coalesce((x.ack_lag_ns - l.broker_lag_ns + lag_turns(1.5)) % lag_turns(1) - lag_turns(0.5), 0), 0) AS arrived_ns,
        l.to_broker_ns, l.sure_to_broker_ns, l.byte_ns, l.tap, l.client_address, l.broker_address
    FROM raw_exchanges AS x
    JOIN connection_context AS l ON l.part = x.part
    WHERE NOT l.is_beside AND NOT l.is_quiet
),
far AS (
    SELECT *, CASE WHEN under_way_to_ns <= request_time_ns + s(1) THEN two_to(24) ELSE two_to(30) END AS step_ns FROM sent
),
large AS (
    SELECT part, tap, client_address, broker_address, request_time_ns, under_way_to_ns, step_ns FROM far WHERE request_bytes > 3000
    UNION ALL
    SELECT r.part, l.tap, l.client_address, l.broker_address, r.time_ns, r.time_ns + s(60), two_to(30)
    FROM raw_problems AS r
    JOIN problem_kinds AS k ON k.number = r.kind
    JOIN parts AS p ON p.part = r.part AND p.client_side = r.side
    JOIN connection_context AS l ON l.part = r.part
    WHERE k.kind = 'unfinished_frame' AND r.bytes_lost > 3000 AND NOT l.is_beside AND NOT l.is_quiet
),
steps AS (
    SELECT CAST(a.n * 8 + b.n AS BIGINT) AS n
    FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7)) AS a(n)
    CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7)) AS b(n)
),
stepped AS (
    SELECT f.*, f.request_time_ns - f.request_time_ns % f.step_ns + s.n * f.step_ns AS step
    FROM large AS f
    JOIN steps AS s ON f.request_time_ns - f.request_time_ns % f.step_ns + s.n * f.step_ns <= f.under_way_to_ns
),
small AS (
    SELECT f.*, w.step_ns AS of_step_ns, f.request_end_ns - f.request_end_ns % w.step_ns AS step
    FROM far AS f CROSS JOIN (VALUES (two_to(24)), (two_to(30))) AS w (step_ns)
    WHERE (f.marks & mark('IDLE')) <> 0
),
crowded AS (
    SELECT DISTINCT f.exchange
    FROM small AS f
    JOIN stepped AS o
        ON o.tap = f.tap AND o.client_address = f.client_address AND o.broker_address = f.broker_address
        AND o.step_ns = f.of_step_ns AND o.step = f.step
    WHERE o.part <> f.part AND o.request_time_ns <= f.request_end_ns
        AND o.under_way_to_ns >= f.request_end_ns
),
alone AS (
    SELECT *
    FROM sent
    WHERE (marks & mark('IDLE')) <> 0 AND exchange NOT IN (SELECT exchange FROM crowded)
),
uneven AS (
    SELECT tap, client_address, broker_address
    FROM alone
    WHERE queue_ns = 0 AND (marks & mark('NEAR', 'BEHIND_SILENT')) = 0 AND arrived_ns < sure_to_broker_ns + ms(38)
    GROUP BY tap, client_address, broker_address
    -- One of them alone says nothing.
    HAVING 30 * sum(CASE WHEN arrived_ns > to_broker_ns + ms(2.5) + byte_ns * request_bytes THEN 1 ELSE 0 END) > 30 + count(*)
)
SELECT exchange FROM crowded
UNION ALL
SELECT a.exchange
FROM alone AS a
JOIN uneven AS u ON u.tap = a.tap AND u.client_address = a.client_address AND u.broker_address = a.broker_address
