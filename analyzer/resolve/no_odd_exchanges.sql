-- The same where the stages saw none: no look at every exchange for nothing.
SELECT
    CAST(NULL AS INTEGER) AS file,
    CAST(NULL AS BIGINT) AS packet,
    CAST(NULL AS BIGINT) AS connection,
    CAST(NULL AS BIGINT) AS exchange,
    CAST(NULL AS BIGINT) AS time_ns,
    CAST(NULL AS VARCHAR(200)) AS side,
    CAST(NULL AS BIGINT) AS "offset",
    CAST(NULL AS VARCHAR(200)) AS kind,
    CAST(NULL AS BIGINT) AS bytes_lost,
    CAST(NULL AS VARCHAR(200)) AS detail
WHERE false
