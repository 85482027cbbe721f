-- Which partitions end before where they had ended? One row per partition.
-- The high watermark of a partition never moves back but for an election of a leader that lacks records: a new leader may know less of it
-- for an instant, so the last one that was told is compared with the highest, 5 s before. Not of a topic that was created anew (in
-- whatever cluster) or may have been, nor of followers that clients read from, nor of what two files with clocks of their own say.
WITH told AS (
    SELECT
        c.cluster,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        x.response_file,
        max(e.high_watermark) AS end_before,
        max_by(x.exchange, (e.high_watermark, x.response_time_ns, x.exchange)) AS before_exchange,
        max_by(x.response_time_ns, (e.high_watermark, x.response_time_ns, x.exchange)) AS before_ns,
        max_by(e.high_watermark, (x.response_time_ns, x.exchange)) AS end_now,
        max_by(x.exchange, (x.response_time_ns, x.exchange)) AS now_exchange,
        max(x.response_time_ns) AS now_ns
    FROM entries AS e
    JOIN exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_key = api('Fetch') AND e.side = 'response' AND e.high_watermark >= 0 AND no_error(e.error_code)
        AND is_client(x.role) AND coalesce(x.replica_id, -1) < 0 AND coalesce(e.topic, e.topic_id) IN (
            SELECT topic FROM partition_ends WHERE end_before - end_now >= impact('lost_records')
        )
    GROUP BY
        c.cluster, coalesce(c.cluster, x.broker_address || ':' || CAST(x.broker_port AS STRING)), coalesce(e.topic, e.topic_id), e.partition,
        x.response_file
    HAVING max(e.high_watermark) - max_by(e.high_watermark, (x.response_time_ns, x.exchange)) >= impact('lost_records')
),
-- Names with one id; a topic of which no id was told may have been created anew unless most of it is still there.
ids AS (
    SELECT cluster, topic, count(DISTINCT topic_id) AS ids, min(first_time_ns) AS first_ns, max(last_time_ns) AS last_ns
    FROM topic_ids
    WHERE topic IS NOT NULL
    GROUP BY cluster, topic
)
SELECT
    t.topic,
    t.partition,
    t.end_before - t.end_now AS lost,
    t.end_before,
    t.end_now,
    t.now_ns - t.before_ns AS after_ns,
    x.broker_address || ':' || CAST(x.broker_port AS STRING) AS broker,
    x.connection,
    t.end_before - t.end_now AS weight,
    t.before_exchange AS evidence_before,
    t.now_exchange AS evidence_now,
    t.before_ns AS first_time_ns,
    t.now_ns AS last_time_ns
FROM told AS t
JOIN exchanges AS x ON x.exchange = t.now_exchange
LEFT JOIN ids AS i ON i.topic = t.topic AND i.cluster IS NOT DISTINCT FROM t.cluster
WHERE t.now_ns - t.before_ns >= s(5) AND coalesce(i.ids, 1) = 1
    AND t.topic NOT IN (SELECT topic FROM new_topics WHERE topic IS NOT NULL)
    AND (t.end_now > t.end_before / 2 OR coalesce(i.cluster = t.cluster AND i.first_ns <= t.before_ns AND i.last_ns >= t.before_ns, false))
    AND NOT EXISTS (
        SELECT 1 FROM entries AS e WHERE coalesce(e.topic, e.topic_id) = t.topic AND e.preferred_read_replica >= 0
    )
