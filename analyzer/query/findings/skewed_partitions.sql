-- severity: info
-- rank: 16
-- when: batches having sum(records) FILTER (WHERE side = 'request') >= 1000
-- says: {topic}: partition {partition} gets {records|record|records}, {times_median} times the median of its {partitions|partition|partitions}
-- do: One key has most of the records: choose another key, or spread it.
-- look: kanalyze topics[ --topic {topic}]
WITH written AS (
    SELECT
        c.cluster,
        coalesce(b.topic, b.topic_id) AS topic,
        b.partition,
        CAST(sum(b.records) AS BIGINT) AS records,
        max_by(b.exchange, (b.records, b.exchange)) FILTER (WHERE b.records IS NOT NULL) AS evidence_greatest
    FROM batches AS b JOIN connections AS c ON c.connection = b.connection
    WHERE b.side = 'request'
    GROUP BY c.cluster, coalesce(b.topic, b.topic_id), b.partition
),
middle AS (
    SELECT
        cluster,
        topic,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY records) AS median_records,
        count(*) AS partitions
    FROM written
    GROUP BY cluster, topic
)
SELECT
    w.topic,
    w.partition,
    w.records,
    m.partitions,
    w.records / nullif(m.median_records, 0) AS times_median,
    w.records AS weight,
    w.evidence_greatest
FROM written AS w JOIN middle AS m ON m.cluster IS NOT DISTINCT FROM w.cluster AND m.topic = w.topic
WHERE m.partitions >= 3 AND w.records >= 1000 AND w.records > 5 * m.median_records
