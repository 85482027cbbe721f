-- Parts of connections that were captured several times on their way, each with the part that was captured first: at several points
-- under the same addresses, or before and behind a translation of addresses (`view_legs`, `redirected_legs`). `is_sure`: else `part_views` asks the
-- exchanges whether both are one connection.
WITH ends AS (
    SELECT
        p.part,
        p.tap_number,
        p.network,
        p.view_number,
        p.first_time_ns,
        p.last_time_ns,
        t.matched,
        p.a_gap_bytes + p.b_gap_bytes AS gap_bytes,
        least(concat(p.a_address, ' ', p.a_port), concat(p.b_address, ' ', p.b_port)) AS low,
        greatest(concat(p.a_address, ' ', p.a_port), concat(p.b_address, ' ', p.b_port)) AS high,
        CASE WHEN concat(p.a_address, ' ', p.a_port) < concat(p.b_address, ' ', p.b_port) THEN p.a_start_seq ELSE p.b_start_seq END
            AS low_start,
        CASE WHEN concat(p.a_address, ' ', p.a_port) < concat(p.b_address, ' ', p.b_port) THEN p.b_start_seq ELSE p.a_start_seq END
            AS high_start
    FROM raw_parts AS p
    JOIN raw_framed_parts AS t ON t.part = p.part
),
seen_twice AS (
    SELECT tap_number, network, low, high
    FROM ends
    GROUP BY tap_number, network, low, high
    HAVING min(view_number) < max(view_number)
),
-- A 4-tuple may be used again, at each point. Views of one connection begin with the same sequence number on one side at least,
-- or, met in mid-flight, lie side by side for more than half of the shorter one's time.
pairs AS (
    SELECT
        x.part,
        y.part AS first_part,
        row_number() OVER (
            PARTITION BY x.part
            ORDER BY y.view_number, CASE WHEN x.low_start = y.low_start OR x.high_start = y.high_start THEN 0 ELSE 1 END, y.part
        ) AS place
    FROM ends AS x
    JOIN seen_twice AS s ON s.tap_number = x.tap_number AND s.network = x.network AND s.low = x.low AND s.high = x.high
    JOIN ends AS y ON y.tap_number = x.tap_number AND y.network = x.network AND y.low = x.low AND y.high = x.high
    WHERE x.part = y.part
        OR (
            y.view_number < x.view_number
            AND (
                x.low_start = y.low_start
                OR x.high_start = y.high_start
                OR least(x.last_time_ns, y.last_time_ns) - greatest(x.first_time_ns, y.first_time_ns)
                    > least(x.last_time_ns - x.first_time_ns, y.last_time_ns - y.first_time_ns) / 2
            )
        )
),
seen AS (
    SELECT part, first_part FROM pairs WHERE place = 1
),
-- Legs by the first views of both.
legs AS (
    SELECT coalesce(x.first_part, l.part) AS part, coalesce(y.first_part, l.other) AS other, bool_or(l.is_sure) AS is_sure
    FROM (SELECT * FROM view_legs UNION ALL SELECT * FROM redirected_legs) AS l
    LEFT JOIN seen AS x ON x.part = l.part
    LEFT JOIN seen AS y ON y.part = l.other
    GROUP BY coalesce(x.first_part, l.part), coalesce(y.first_part, l.other)
),
met AS (
    SELECT part, other, is_sure FROM legs WHERE part <> other
    UNION ALL
    SELECT other, part, is_sure FROM legs WHERE part <> other
),
nearest AS (
    SELECT part, bool_or(is_sure) AS is_sure, coalesce(min(other) FILTER (WHERE is_sure), min(other)) AS other
    FROM met
    GROUP BY part
),
-- Of three legs two may have met by way of the third alone.
roots AS (
    SELECT n.part, n.is_sure, least(n.part, n.other, CASE WHEN f.is_sure = n.is_sure THEN f.other ELSE n.other END) AS root
    FROM nearest AS n JOIN nearest AS f ON f.part = n.other
)
SELECT
    coalesce(s.part, r.part) AS part,
    coalesce(r.root, s.first_part) AS first_part,
    coalesce(r.is_sure, true) AS is_sure
FROM seen AS s
FULL JOIN roots AS r ON r.part = s.first_part
