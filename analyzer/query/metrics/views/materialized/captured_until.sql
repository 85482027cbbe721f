-- Until when was there a capture that could have shown what came later? One row per input: the end of the inputs of its capture point
-- that follow each other without a gap of more than a second, as files that are written by turns do.
WITH begun AS (
    SELECT
        file,
        tap,
        first_time_ns,
        last_time_ns,
        CASE WHEN first_time_ns - s(1) <= max(last_time_ns) OVER (
            PARTITION BY tap ORDER BY first_time_ns, file ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) THEN 0 ELSE 1 END AS begins
    FROM captures
    WHERE first_time_ns IS NOT NULL
),
counted AS (
    SELECT *, sum(begins) OVER (PARTITION BY tap ORDER BY first_time_ns, file ROWS UNBOUNDED PRECEDING) AS stretch
    FROM begun
)
SELECT file, max(last_time_ns) OVER (PARTITION BY tap, stretch) AS until_ns
FROM counted
