-- Those of `proxy_parts` of whose requests many may be the same (`part_marks`), and of which there may be enough between the same ends.
-- `is_renumbered`: a proxy may have numbered them anew, and changed their sizes: what else is alike is then less of a proof.
-- Clients of one sort all ask for the same: there only the eight connections that began nearest are compared, not each with all; and
-- none of a client at the proxy's own address, but by loopback: a host of both clients and brokers has many that are no proxy's.
-- `forwarded` compares them.
WITH marks AS (
    SELECT
        part,
        min(first_mark) AS first_mark,
        min(second_mark) AS second_mark,
        min(third_mark) AS third_mark,
        min(fourth_mark) AS fourth_mark,
        min(kind_mark) AS kind_mark
    FROM part_marks
    GROUP BY part
),
alike AS (
    SELECT
        p.*,
        x.first_mark = y.first_mark OR x.second_mark = y.second_mark OR x.third_mark = y.third_mark OR x.fourth_mark = y.fourth_mark
            AS has_marks,
        x.kind_mark = y.kind_mark AS has_kinds
    FROM proxy_parts AS p
    JOIN marks AS y ON y.part = p.part
    JOIN marks AS x ON x.part = p.from_part
),
renumbered AS (
    SELECT *
    FROM alike
    WHERE has_kinds AND (client_address <> proxy_address OR client_address SIMILAR TO '127\..*|::1')
    QUALIFY row_number() OVER (PARTITION BY part ORDER BY apart_ns, from_part) <= 8
        AND row_number() OVER (PARTITION BY from_part ORDER BY apart_ns, part) <= 8
),
possible AS (
    SELECT * EXCLUDE (has_marks, has_kinds), false AS is_renumbered FROM alike WHERE has_marks
    UNION ALL
    SELECT * EXCLUDE (has_marks, has_kinds) REPLACE (greatest(least_met, 6) AS least_met), true FROM renumbered
)
SELECT *
FROM possible
QUALIFY sum(most_met) OVER (
        PARTITION BY proxy_address, CASE WHEN NOT is_renumbered THEN proxy_port END, broker_address, broker_port, is_renumbered
    ) >= least_met
