-- `exchange_problems` of a run whose stages saw none: without reading all exchanges.
SELECT
    CAST(NULL AS INTEGER) AS file,
    CAST(NULL AS BIGINT) AS packet,
    CAST(NULL AS BIGINT) AS connection,
    CAST(NULL AS BIGINT) AS exchange,
    CAST(NULL AS BIGINT) AS time_ns,
    CAST(NULL AS STRING) AS side,
    CAST(NULL AS BIGINT) AS offset,
    CAST(NULL AS STRING) AS kind,
    CAST(NULL AS BIGINT) AS bytes_lost,
    CAST(NULL AS STRING) AS detail
WHERE false
