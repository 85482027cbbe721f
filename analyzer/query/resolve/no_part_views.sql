-- In nearly every capture all connections were captured at one point.
SELECT CAST(NULL AS BIGINT) AS part, true AS is_main, 1 AS views, CAST(NULL AS BIGINT) AS view_delay_ns WHERE false
