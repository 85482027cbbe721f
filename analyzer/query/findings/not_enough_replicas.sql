-- severity: high
-- rank: 14
-- when: errors having bool_or(code IN (error('NOT_ENOUGH_REPLICAS', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND')))
-- says: writes to topic {topic} are rejected for lack of in-sync replicas[, {refused|time|times}][, {after|time|times} after they had been appended]
-- do: Bring the missing brokers back; min.insync.replicas of the topic sets how many replicas must be in sync.
-- look: kanalyze errors --by topic[ --topic {topic}]
-- explains: resent_batches, out_of_order, request_timed_out, slow_requests
-- costs: refused(NOT_ENOUGH_REPLICAS|NOT_ENOUGH_REPLICAS_AFTER_APPEND), time(Produce)
SELECT
    coalesce(e.topic, e.topic_id) AS topic,
    nullif(count(*) FILTER (WHERE e.code = error('NOT_ENOUGH_REPLICAS')), 0) AS refused,
    nullif(count(*) FILTER (WHERE e.code = error('NOT_ENOUGH_REPLICAS_AFTER_APPEND')), 0) AS after,
    count(DISTINCT e.exchange) AS weight,
    min_by(e.exchange, (x.request_time_ns, e.exchange)) AS evidence_first,
    max_by(e.exchange, (x.request_time_ns, e.exchange)) AS evidence_last,
    min(x.request_time_ns) AS first_time_ns,
    max(x.request_time_ns) AS last_time_ns
FROM errors AS e
JOIN failed_exchanges AS x ON x.exchange = e.exchange
JOIN connections AS c ON c.connection = x.connection
WHERE e.code IN (error('NOT_ENOUGH_REPLICAS', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND')) AND e.side = 'response'
GROUP BY c.cluster, coalesce(e.topic, e.topic_id)
