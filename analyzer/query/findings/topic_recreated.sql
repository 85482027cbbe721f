-- severity: medium
-- rank: 15
-- when: topic_ids having count(*) > count(DISTINCT topic)
-- says: topic {topic} was deleted and created again: its id changed from {old_id} to {new_id}[; {deleted_by} had it deleted][; {meanwhile}]
-- do: The records of the old topic are gone, and offsets that groups had committed may be beyond its end: find who deleted it, and check these groups (kafka-consumer-groups.sh --describe).
-- look: kanalyze errors --topic {topic}
-- explains: missing_topic, failing, offset_out_of_range, commit_failures, metadata_storm*, lag_growing
-- delays: nobody
-- costs: refused(UNKNOWN_TOPIC_OR_PARTITION|UNKNOWN_TOPIC_ID|INCONSISTENT_TOPIC_ID|OFFSET_OUT_OF_RANGE)
-- Brokers of one cluster told two ids for the name, the later one first told after the earlier one was last told. For information
-- where no client was told that it does not exist, is unknown by its id, or has no such offset.
WITH ids AS (
    SELECT
        cluster,
        topic,
        topic_id,
        first_time_ns,
        lag(topic_id) OVER of_name AS old_id,
        lag(last_time_ns) OVER of_name AS old_ns
    FROM topic_ids
    WHERE topic IS NOT NULL AND cluster IS NOT NULL
    WINDOW of_name AS (PARTITION BY cluster, topic ORDER BY first_time_ns, topic_id)
),
changed AS (
    SELECT cluster, topic, old_id, topic_id AS new_id, old_ns, first_time_ns AS new_ns
    FROM ids
    WHERE old_id <> topic_id AND old_ns < first_time_ns
),
failed AS (
    SELECT
        g.cluster,
        g.topic,
        g.new_id,
        count(DISTINCT e.exchange) AS failures,
        min_by(e.exchange, (x.response_time_ns, e.exchange)) AS exchange,
        min(x.response_time_ns) AS first_time_ns,
        max(x.response_time_ns) AS last_time_ns
    FROM changed AS g
    JOIN errors AS e ON (e.topic = g.topic OR e.topic_id = g.old_id)
        AND e.code IN (error('OFFSET_OUT_OF_RANGE', 'UNKNOWN_TOPIC_OR_PARTITION', 'UNKNOWN_TOPIC_ID', 'INCONSISTENT_TOPIC_ID'))
    JOIN failed_exchanges AS x ON x.exchange = e.exchange
    WHERE is_client(x.role) AND x.response_time_ns >= g.old_ns
    GROUP BY g.cluster, g.topic, g.new_id
),
deleted AS (
    SELECT g.cluster, g.topic, g.new_id, max_by(d.deleted_by, d.time_ns) AS deleted_by
    FROM changed AS g JOIN deleted_topics AS d ON d.cluster = g.cluster AND (d.topic = g.topic OR d.topic_id = g.old_id)
    -- Before it was made again; what told of the old one may have been late.
    WHERE d.time_ns < g.new_ns
    GROUP BY g.cluster, g.topic, g.new_id
)
SELECT
    g.topic,
    g.old_id,
    g.new_id,
    d.deleted_by,
    CASE WHEN f.failures IS NOT NULL THEN 'requests about it failed meanwhile' END AS meanwhile,
    CASE WHEN f.failures IS NULL THEN 'info' ELSE 'medium' END AS severity,
    coalesce(f.failures, 0) AS weight,
    f.exchange AS evidence_first_error,
    coalesce(f.first_time_ns, g.old_ns) AS first_time_ns,
    greatest(coalesce(f.last_time_ns, g.new_ns), g.new_ns) AS last_time_ns
FROM changed AS g
LEFT JOIN failed AS f ON f.cluster = g.cluster AND f.topic = g.topic AND f.new_id = g.new_id
LEFT JOIN deleted AS d ON d.cluster = g.cluster AND d.topic = g.topic AND d.new_id = g.new_id
