-- Until when was there a capture that could have shown what came later? One row per input: the end of the inputs of its capture point
-- that follow each other as files that are written by turns do, with gaps of up to a second or a tenth of a file, as in time_range; at
-- most the end that the filters leave.
WITH before AS (
    SELECT
        file,
        tap,
        first_time_ns,
        last_time_ns,
        max(last_time_ns) OVER (
            PARTITION BY tap ORDER BY first_time_ns, file ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_ns
    FROM captures
    WHERE first_time_ns IS NOT NULL
),
counted AS (
    SELECT
        *,
        sum(CASE WHEN first_time_ns - before_ns <= greatest(s(1), (last_time_ns - first_time_ns) / 10) THEN 0 ELSE 1 END)
            OVER (PARTITION BY tap ORDER BY first_time_ns, file ROWS UNBOUNDED PRECEDING) AS stretch
    FROM before
)
SELECT c.file, least(max(c.last_time_ns) OVER (PARTITION BY c.tap, c.stretch), r.last_time_ns) AS until_ns
FROM counted AS c CROSS JOIN time_range AS r
