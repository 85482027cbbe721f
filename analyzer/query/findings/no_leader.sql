-- severity: medium
-- rank: 31
-- when: errors having bool_or(code = error('LEADER_NOT_AVAILABLE') AND expected IS NOT TRUE)
-- says: topic {topic} has partitions without a leader: {times|reply|replies} with LEADER_NOT_AVAILABLE in {lasted_ns}
-- do: Find out which broker led them and bring it back; kafka-topics.sh --describe --topic shows which replicas are in sync.
-- look: kanalyze errors --by topic --topic {topic}
-- explains: metadata_storm, failing(LEADER_NOT_AVAILABLE|KAFKA_STORAGE_ERROR|NOT_LEADER_OR_FOLLOWER), slow_requests
-- costs: refused(LEADER_NOT_AVAILABLE), repeated(Metadata)
-- LEADER_NOT_AVAILABLE beyond what a new topic or an election brings. Nobody writes to such a partition or reads from it. Three replies
-- beyond it, or two of a client that seldom asks, 10 s after the first that was still normal. Those count, as in the table of errors; the
-- time that is told is that of the others.
SELECT
    coalesce(e.topic, e.topic_id) AS topic,
    count(DISTINCT e.exchange) AS times,
    max(x.response_time_ns) FILTER (WHERE e.expected IS NOT TRUE) - min(x.response_time_ns) FILTER (WHERE e.expected IS NOT TRUE)
        AS lasted_ns,
    CASE WHEN min(x.client_address) = max(x.client_address) THEN max(x.client_address) END AS client_address,
    count(DISTINCT e.exchange) AS weight,
    min_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_first,
    max_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_last,
    min(x.response_time_ns) AS first_time_ns,
    max(x.response_time_ns) AS last_time_ns
FROM errors AS e
JOIN failed_exchanges AS x ON x.exchange = e.exchange
WHERE e.code = error('LEADER_NOT_AVAILABLE') AND is_client(x.role)
    AND coalesce(e.topic, e.topic_id) IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM new_topics AS n
        WHERE n.topic = e.topic AND x.response_time_ns BETWEEN n.created_ns - s(10) AND n.created_ns + s(10)
    )
GROUP BY coalesce(e.topic, e.topic_id)
HAVING count(DISTINCT CASE WHEN e.expected IS NOT TRUE THEN e.exchange END) >= 3
    OR (count(DISTINCT CASE WHEN e.expected IS NOT TRUE THEN e.exchange END) = 2
        AND max(x.response_time_ns) - min(x.response_time_ns) >= impact('stuck_ns'))
