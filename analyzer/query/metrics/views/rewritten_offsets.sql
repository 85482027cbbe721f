-- Which records did a broker acknowledge whose offsets were given to others later? One row per partition: `lost` offsets, from `lost_from`
-- to `lost_to` (`at_least`: how many the last batch took is not known), of which `old_broker` acknowledged the last to `who`, and which
-- `broker` gave again from `after_ns` later on; none was acknowledged after `acknowledged_time_ns`.
-- What is acknowledged has its offset for ever: a leader that gives it to another record has not got the first one, as after an election
-- of a leader behind the others, or after a disk was lost. The later request began a second at least after the acknowledgement, in the
-- same file, so that neither requests under way together nor clocks of several hosts look like it. An idempotent producer's batch
-- that may be a resent one has the offset of the first; a topic that was deleted and created again, or may have been, begins anew.
-- Names whose one id was told before and after the acknowledgement: their topics were not created anew. Of others the end has to be more
-- than twice as far as what is gone, unless the leader before was away meanwhile: then its successor was elected.
WITH same_ids AS (
    SELECT topic, min(first_time_ns) AS first_time_ns, max(last_time_ns) AS last_time_ns, count(DISTINCT topic_id) AS ids
    FROM topic_ids
    WHERE topic IS NOT NULL
    GROUP BY topic
),
away AS (
    SELECT broker, max(first_time_ns) AS first_time_ns, max(last_time_ns) AS last_time_ns FROM lost_brokers GROUP BY broker
)
SELECT
    r.topic,
    r.partition,
    min(r.base_offset) AS lost_from,
    CAST(max(r.told_offset + coalesce(o.offsets - 1, 0)) AS BIGINT) AS lost_to,
    CAST(max(r.told_offset + coalesce(o.offsets - 1, 0)) - min(r.base_offset) + 1 AS BIGINT) AS lost,
    CASE WHEN max_by(coalesce(o.offsets, 0), (r.told_offset, r.exchange)) = 0 THEN 'at least' END AS at_least,
    min_by(who(old), (r.request_time_ns, r.exchange)) AS who,
    min_by(old.client_address, (r.request_time_ns, r.exchange)) AS client_address,
    min_by(new.broker_address || ':' || CAST(new.broker_port AS STRING), (r.request_time_ns, r.exchange)) AS broker,
    min_by(old.broker_address || ':' || CAST(old.broker_port AS STRING), (r.request_time_ns, r.exchange)) AS old_broker,
    min_by(r.request_time_ns - old.response_time_ns, (r.request_time_ns, r.exchange)) AS after_ns,
    CAST(max(r.told_offset + coalesce(o.offsets - 1, 0)) - min(r.base_offset) + 1 AS BIGINT) AS weight,
    min_by(new.connection, (r.request_time_ns, r.exchange)) AS connection,
    min_by(old.exchange, (r.request_time_ns, r.exchange)) AS evidence_acknowledged,
    min_by(r.exchange, (r.request_time_ns, r.exchange)) AS evidence_again,
    max(old.response_time_ns) AS acknowledged_time_ns,
    min(old.response_time_ns) AS first_time_ns,
    max(r.request_time_ns) AS last_time_ns
FROM repeated_offsets AS r
JOIN exchanges AS new ON new.exchange = r.exchange
JOIN exchanges AS old ON old.exchange = r.told_exchange
LEFT JOIN (
    SELECT exchange, topic, partition, CASE WHEN count(offsets) = count(*) THEN sum(offsets) END AS offsets
    FROM produced
    WHERE exchange IN (SELECT told_exchange FROM repeated_offsets)
    GROUP BY exchange, topic, partition
) AS o ON o.exchange = r.told_exchange AND o.topic = r.topic AND o.partition = r.partition
LEFT JOIN same_ids AS i ON i.topic = r.topic
LEFT JOIN new_topics AS t ON t.topic = r.topic
LEFT JOIN away AS a ON a.broker = old.broker_address || ':' || CAST(old.broker_port AS STRING)
LEFT JOIN away AS b ON b.broker = new.broker_address || ':' || CAST(new.broker_port AS STRING)
WHERE t.topic IS NULL AND coalesce(i.ids, 1) = 1 AND new.connection <> old.connection
    AND (new.broker_address <> old.broker_address OR new.broker_port <> old.broker_port OR r.base_offset < r.told_offset)
GROUP BY r.cluster, r.topic, r.partition
HAVING bool_and(
    r.base_offset > r.told_offset / 2 OR coalesce(i.first_time_ns <= old.response_time_ns AND i.last_time_ns >= old.response_time_ns, false)
    OR coalesce(r.base_offset > 0 AND b.broker IS NULL AND r.request_time_ns BETWEEN a.first_time_ns AND a.last_time_ns, false)
)
