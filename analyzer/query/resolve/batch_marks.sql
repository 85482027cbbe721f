-- By what record batches are known again, as one run saw them: of each topic, by its name or by an id that no message of the run names,
-- and of each partition the sixteen least checksums, with the part and the time at which each was seen first. Brokers change nothing that a
-- checksum covers, but where a topic has LogAppendTime or a codec of its own.
WITH least AS (
    SELECT topic_id, topic_name, partition, unnest(min(crc, 16)) AS crc
    FROM (
        SELECT DISTINCT topic_id, CASE WHEN topic_id IS NULL THEN topic END AS topic_name, partition, crc
        FROM raw_batches
        WHERE magic = 2 AND crc IS NOT NULL AND (topic_id IS NULL OR topic_id NOT IN (SELECT topic_id FROM raw_topic_facts))
    ) AS b
    GROUP BY topic_id, topic_name, partition
),
-- Whoever is first has written: a reply gives a batch when it ends.
seen AS (
    SELECT
        m.topic_id, m.topic_name, m.partition, m.crc, b.part,
        CASE b.side WHEN 'request' THEN x.request_time_ns ELSE x.response_end_ns END AS time_ns
    FROM least AS m
    JOIN raw_batches AS b
        ON b.crc = m.crc AND b.partition = m.partition AND b.topic_id IS NOT DISTINCT FROM m.topic_id
        AND (m.topic_id IS NOT NULL OR b.topic = m.topic_name)
    JOIN raw_exchanges AS x ON x.exchange = b.exchange
    WHERE b.magic = 2
)
SELECT
    topic_id,
    topic_name,
    partition,
    crc,
    min_by(part, (time_ns, part)) AS part,
    min(time_ns) AS time_ns
FROM seen
GROUP BY topic_id, topic_name, partition, crc
