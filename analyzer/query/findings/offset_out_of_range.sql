-- severity: high
-- rank: 16
-- when: errors having bool_or(code = 1)
-- says: {who} asked for offsets that {topic} no longer has, {times|time|times}: records were skipped, or are read again from the start
-- do: The consumer fell behind retention, or the topic was made anew: check its lag, and what auto.offset.reset does to it.
-- look: kanalyze topics[ --topic {topic}]
SELECT
    coalesce(x.client_id, x.client_address) AS who,
    coalesce(e.topic, e.topic_id) AS topic,
    count(*) AS times,
    count(DISTINCT e.partition) AS partitions,
    count(*) AS weight,
    min_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_first,
    max_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_last,
    min(x.response_time_ns) AS first_time_ns,
    max(x.response_time_ns) AS last_time_ns
FROM errors AS e
JOIN failed_exchanges AS x ON x.exchange = e.exchange
JOIN connections AS c ON c.connection = x.connection
WHERE e.code = 1 AND x.api_name = 'Fetch' AND coalesce(x.role, 'client') = 'client' AND coalesce(x.replica_id, -1) < 0
GROUP BY c.cluster, coalesce(x.client_id, x.client_address), coalesce(e.topic, e.topic_id)
