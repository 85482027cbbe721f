-- In nearly every capture all connections were captured at one point, under one pair of addresses.
SELECT
    CAST(NULL AS BIGINT) AS part,
    true AS is_main,
    1 AS views,
    CAST(NULL AS BIGINT) AS view_delay_ns,
    CAST(NULL AS STRING) AS translated_client,
    CAST(NULL AS STRING) AS translated_broker,
    CAST(NULL AS BIGINT) AS rest_of
WHERE false
