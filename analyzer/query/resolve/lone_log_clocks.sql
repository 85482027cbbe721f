-- Logs of requests without a capture have no other clock than their own.
SELECT
    CAST(NULL AS INTEGER) AS log,
    CAST(NULL AS STRING) AS broker_address,
    CAST(NULL AS BIGINT) AS at_ns,
    CAST(NULL AS DOUBLE) AS drift,
    CAST(NULL AS BIGINT) AS offset_ns,
    CAST(NULL AS BIGINT) AS pairs,
    CAST(NULL AS BIGINT) AS slack_ns
WHERE false
