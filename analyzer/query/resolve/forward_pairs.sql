-- Those of `proxy_parts` of whose requests many may be the same (`part_marks`), and of which there may be enough between the same ends.
-- `forwarded` compares them.
WITH marks AS (
    SELECT
        part,
        min(first_mark) AS first_mark,
        min(second_mark) AS second_mark,
        min(third_mark) AS third_mark,
        min(fourth_mark) AS fourth_mark
    FROM part_marks
    GROUP BY part
)
SELECT p.*
FROM proxy_parts AS p
JOIN marks AS y ON y.part = p.part
JOIN marks AS x ON x.part = p.from_part
WHERE x.first_mark = y.first_mark OR x.second_mark = y.second_mark OR x.third_mark = y.third_mark OR x.fourth_mark = y.fourth_mark
QUALIFY sum(p.most_met) OVER (PARTITION BY p.proxy_address, p.proxy_port, p.broker_address, p.broker_port) >= p.least_met
