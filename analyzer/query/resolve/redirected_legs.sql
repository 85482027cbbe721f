-- Legs of connections that their own host redirects to a proxy on it (REDIRECT, DNAT of what leaves the host). All its interfaces see
-- requests under the new address and replies under the old one, two halves, and what the proxy carries on, whole. Pairs as those of
-- `view_legs`: each half with the whole connection, which has the same requests at the same time. Where nothing is answered there are the two halves alone (`silent_halves`).
WITH ends AS (
    SELECT
        p.part,
        p.tap_number,
        p.first_time_ns,
        p.last_time_ns,
        t.requests,
        t.matched,
        t.orphans,
        CASE WHEN t.client_side = 1 THEN p.b_address ELSE p.a_address END AS client_address,
        CASE WHEN t.client_side = 1 THEN p.b_port ELSE p.a_port END AS client_port,
        CASE WHEN t.client_side = 1 THEN p.a_address ELSE p.b_address END AS broker_address,
        CASE WHEN t.client_side = 1 THEN p.a_port ELSE p.b_port END AS broker_port,
        CASE WHEN t.client_side = 1 THEN p.b_packets ELSE p.a_packets END AS client_packets,
        CASE WHEN t.client_side = 1 THEN p.a_packets ELSE p.b_packets END AS broker_packets
    FROM raw_parts AS p JOIN raw_framed_parts AS t ON t.part = p.part
    WHERE t.client_side IS NOT NULL AND t.requests + t.orphans > 0
),
halves AS (
    SELECT x.*, y.part AS replies
    FROM ends AS x
    JOIN ends AS y ON y.tap_number = x.tap_number AND y.client_address = x.client_address AND y.client_port = x.client_port
    WHERE x.broker_packets = 0
        AND y.client_packets = 0
        AND (x.broker_address <> y.broker_address OR x.broker_port <> y.broker_port)
        AND x.requests > 0
        AND y.orphans BETWEEN 1 AND x.requests
        AND x.first_time_ns <= y.last_time_ns
        AND y.first_time_ns <= x.last_time_ns
),
marks AS (
    SELECT part, unnest([min(first_mark), min(second_mark), min(third_mark), min(fourth_mark)]) AS mark, unnest([1, 2, 3, 4]) AS place
    FROM part_marks
    GROUP BY part
),
alike AS (
    SELECT m.part, n.part AS other
    FROM marks AS m JOIN marks AS n ON n.mark = m.mark AND n.place = m.place
    WHERE m.part IN (SELECT part FROM halves) AND n.part <> m.part
    GROUP BY m.part, n.part
    HAVING count(*) >= 3
),
carried AS (
    SELECT
        h.part,
        h.replies,
        w.part AS whole,
        w.requests,
        h.broker_address AS proxy_address,
        h.broker_port AS proxy_port,
        w.broker_address,
        w.broker_port,
        row_number() OVER (PARTITION BY h.part ORDER BY abs(w.first_time_ns - h.first_time_ns), w.part, h.replies) AS place,
        row_number() OVER (PARTITION BY w.part ORDER BY abs(w.first_time_ns - h.first_time_ns), h.part, h.replies) AS from_place
    FROM halves AS h
    JOIN alike AS a ON a.part = h.part
    JOIN ends AS w ON w.part = a.other AND w.tap_number = h.tap_number
    -- What was on its way when the capture began or ended is on one leg alone.
    WHERE w.matched > 0
        AND abs(w.requests - h.requests) <= 2
        AND w.first_time_ns BETWEEN h.first_time_ns - s(1) AND h.first_time_ns + s(10)
        AND abs(w.last_time_ns - h.last_time_ns) <= s(10)
),
-- Fewer alike may be chance.
proved AS (
    SELECT *
    FROM carried
    WHERE place = 1 AND from_place = 1
    QUALIFY sum(requests) OVER (PARTITION BY proxy_address, proxy_port, broker_address, broker_port) >= 4
)
SELECT whole AS part, unnest([part, replies]) AS other, true AS is_sure FROM proved
UNION ALL
SELECT part, other, true FROM silent_halves
