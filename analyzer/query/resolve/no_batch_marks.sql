-- `batch_marks` where each id of a topic has a name; topics are of the type that they have there: ENUM in a large report.
SELECT
    topic_id,
    topic AS topic_name,
    CAST(NULL AS INT) AS partition,
    CAST(NULL AS BIGINT) AS crc,
    CAST(NULL AS BIGINT) AS part,
    CAST(NULL AS BIGINT) AS time_ns
FROM raw_topic_facts
WHERE false
