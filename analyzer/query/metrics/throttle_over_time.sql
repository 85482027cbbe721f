-- When is how much throttled? One row per time slot (`settings`, else one for the whole time) in which something was:
-- `muted_ns` is the time that the worst connection was muted in the slot, `share` (0 to 1) of the slot's length in the
-- capture; `connections` those that were muted, `throttled` replies that throttle, `throttle_time_ms` the sum they tell.
-- At most 10,000 slots.
WITH digits AS (
    SELECT digit FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d(digit)
),
numbers AS (
    SELECT CAST(a.digit + 10 * b.digit + 100 * c.digit + 1000 * d.digit AS BIGINT) AS number
    FROM digits AS a CROSS JOIN digits AS b CROSS JOIN digits AS c CROSS JOIN digits AS d
),
grid AS (
    SELECT
        r.first_time_ns,
        r.last_time_ns,
        coalesce(s.every_ns, r.last_time_ns - r.first_time_ns + 1) AS every_ns,
        r.first_time_ns - CASE WHEN s.every_ns > 0 THEN r.first_time_ns % s.every_ns ELSE 0 END AS origin_ns
    FROM time_range AS r CROSS JOIN settings AS s
    WHERE r.first_time_ns IS NOT NULL
),
slots AS (
    SELECT
        g.origin_ns + n.number * g.every_ns AS slot_ns,
        greatest(g.origin_ns + n.number * g.every_ns, g.first_time_ns) AS begin_ns,
        g.origin_ns + n.number * g.every_ns
            + least(g.every_ns, g.last_time_ns + 1 - g.origin_ns - n.number * g.every_ns) AS end_ns
    FROM grid AS g CROSS JOIN numbers AS n
    WHERE n.number <= (g.last_time_ns - g.origin_ns) / g.every_ns
),
replies AS (
    SELECT
        g.origin_ns + (e.response_time_ns - g.origin_ns) - (e.response_time_ns - g.origin_ns) % g.every_ns AS slot_ns,
        count(*) AS throttled,
        sum(CAST(e.throttle_time_ms AS BIGINT)) AS throttle_time_ms
    FROM exchanges AS e CROSS JOIN grid AS g
    WHERE e.throttle_time_ms > 0 AND e.response_time_ns IS NOT NULL AND is_client(e.role)
    GROUP BY g.origin_ns + (e.response_time_ns - g.origin_ns) - (e.response_time_ns - g.origin_ns) % g.every_ns
),
muted AS (
    SELECT s.slot_ns, p.connection, sum(least(p.end_ns, s.end_ns) - greatest(p.begin_ns, s.begin_ns)) AS muted_ns
    FROM muted_pieces AS p JOIN slots AS s ON p.begin_ns < s.end_ns AND p.end_ns > s.begin_ns
    GROUP BY s.slot_ns, p.connection
),
worst AS (
    SELECT slot_ns, count(*) AS connections, CAST(max(muted_ns) AS BIGINT) AS muted_ns
    FROM muted
    GROUP BY slot_ns
)
SELECT
    s.slot_ns,
    coalesce(r.throttled, 0) AS throttled,
    CAST(coalesce(r.throttle_time_ms, 0) AS BIGINT) AS throttle_time_ms,
    coalesce(w.connections, 0) AS connections,
    coalesce(w.muted_ns, 0) AS muted_ns,
    CASE WHEN s.end_ns > s.begin_ns THEN CAST(coalesce(w.muted_ns, 0) AS DOUBLE) / (s.end_ns - s.begin_ns) END AS share
FROM slots AS s
    LEFT JOIN replies AS r ON r.slot_ns = s.slot_ns
    LEFT JOIN worst AS w ON w.slot_ns = s.slot_ns
WHERE r.slot_ns IS NOT NULL OR w.slot_ns IS NOT NULL
ORDER BY s.slot_ns
