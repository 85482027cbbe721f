-- severity: info
-- rank: 16
-- when: batches having sum(records) FILTER (WHERE side = 'request') >= 1000
-- says: {topic}: partition {partition} gets {records|record|records}, {times_median} times the median of its {partitions|partition|partitions}
-- do: Probably one key has most of the records: choose a different key, or split this one over several partitions.
-- look: kanalyze topics[ --topic {topic}]
-- Beyond 25 times the median one partition's broker and consumer have the topic to themselves: worth a look.
WITH sent AS (
    SELECT
        connection,
        coalesce(topic, topic_id) AS topic,
        partition,
        sum(records) AS records,
        max(records) AS greatest,
        max_by(exchange, (records, exchange)) FILTER (WHERE records IS NOT NULL) AS exchange
    FROM batches
    WHERE side = 'request'
    GROUP BY connection, coalesce(topic, topic_id), partition
),
written AS (
    SELECT
        c.cluster,
        s.topic,
        s.partition,
        CAST(sum(s.records) AS BIGINT) AS records,
        max_by(s.exchange, (s.greatest, s.exchange)) FILTER (WHERE s.exchange IS NOT NULL) AS evidence_greatest
    FROM sent AS s JOIN connections AS c ON c.connection = s.connection
    GROUP BY c.cluster, s.topic, s.partition
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
    CASE WHEN w.records > 25 * m.median_records THEN 'medium' ELSE 'info' END AS severity,
    w.records AS weight,
    w.evidence_greatest
FROM written AS w JOIN middle AS m ON m.cluster IS NOT DISTINCT FROM w.cluster AND m.topic = w.topic
WHERE m.partitions >= 3 AND w.records >= 1000 AND w.records > 5 * m.median_records
