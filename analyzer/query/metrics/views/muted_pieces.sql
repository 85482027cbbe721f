-- When was each connection of a client muted? Windows of one connection united: its pieces do not overlap, ns since the
-- epoch, cut to the time that counts; `life_ns` is its life in that time, which a mute without a packet prolongs. Brokers before
-- 2.0, which do not mute, are not here.
WITH lives AS (
    SELECT
        c.connection,
        greatest(c.first_time_ns, r.first_time_ns) AS first_time_ns,
        least(greatest(c.last_time_ns, m.last_ns), r.last_time_ns) AS last_time_ns
    FROM connections AS c CROSS JOIN time_range AS r
    JOIN (SELECT connection, max(end_ns) AS last_ns FROM mutes GROUP BY connection) AS m ON m.connection = c.connection
    WHERE is_client(c.role)
),
windows AS (
    SELECT
        m.connection,
        l.last_time_ns - l.first_time_ns AS life_ns,
        greatest(m.begin_ns, l.first_time_ns) AS begin_ns,
        least(m.end_ns, l.last_time_ns) AS end_ns
    FROM mutes AS m JOIN lives AS l ON l.connection = m.connection
    -- Where no offer of versions was seen, the broker is taken for one of 2.0 or newer; `unsure` counts these.
    WHERE coalesce(m.applies, true) AND m.end_ns > l.first_time_ns AND m.begin_ns < l.last_time_ns
),
ordered AS (
    SELECT
        *,
        max(end_ns) OVER (
            PARTITION BY connection ORDER BY begin_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS covered_ns
    FROM windows
)
SELECT connection, life_ns, greatest(begin_ns, coalesce(covered_ns, begin_ns)) AS begin_ns, end_ns
FROM ordered
WHERE end_ns > greatest(begin_ns, coalesce(covered_ns, begin_ns))
