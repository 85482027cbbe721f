-- The same where no entries were read: nothing is known.
SELECT
    CAST(NULL AS BIGINT) AS exchange,
    CAST(NULL AS BOOLEAN) AS raft,
    CAST(NULL AS BOOLEAN) AS redirected,
    CAST(NULL AS STRING) AS state
WHERE false
