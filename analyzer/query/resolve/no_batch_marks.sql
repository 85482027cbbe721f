-- `batch_marks` where each id of a topic has a name.
SELECT
    CAST(NULL AS STRING) AS topic_id,
    CAST(NULL AS STRING) AS topic_name,
    CAST(NULL AS INT) AS partition,
    CAST(NULL AS BIGINT) AS crc,
    CAST(NULL AS BIGINT) AS part,
    CAST(NULL AS BIGINT) AS time_ns
WHERE false
