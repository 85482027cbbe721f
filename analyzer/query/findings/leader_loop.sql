-- severity: high
-- rank: 32
-- when: errors having bool_or(code = error('NOT_LEADER_OR_FOLLOWER') AND expected IS DISTINCT FROM true)
-- says: {who} keeps sending requests for {topic}-{partition} to a broker that is not its leader, for {lasted_ns} ({times|time|times}): its metadata stays out of date
-- do: Check whether a leader election is stuck (kafka-topics.sh --describe shows no leader), or whether the Metadata requests of the client fail.
-- look: kanalyze errors --by partition[ --topic {topic}][ --client {who}]
-- explains: metadata_storm, failing(NOT_LEADER_OR_FOLLOWER|LEADER_NOT_AVAILABLE|FENCED_LEADER_EPOCH|UNKNOWN_LEADER_EPOCH), resent_batches
-- costs: refused(NOT_LEADER_OR_FOLLOWER)
-- Up to 10 s such errors belong to every election.
SELECT
    who(x) AS who,
    coalesce(e.topic, e.topic_id) AS topic,
    e.partition,
    count(*) AS times,
    max(x.response_time_ns) - min(x.response_time_ns) AS lasted_ns,
    max(x.response_time_ns) - min(x.response_time_ns) AS weight,
    min_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_first,
    max_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_last,
    min(x.response_time_ns) AS first_time_ns,
    max(x.response_time_ns) AS last_time_ns
FROM errors AS e
JOIN failed_exchanges AS x ON x.exchange = e.exchange
JOIN connections AS c ON c.connection = x.connection
WHERE e.code = error('NOT_LEADER_OR_FOLLOWER') AND is_client(x.role) AND e.expected IS DISTINCT FROM true
GROUP BY c.cluster, who(x), coalesce(e.topic, e.topic_id), e.partition
-- Fewer than one in 10 s are several elections, no loop.
HAVING max(x.response_time_ns) - min(x.response_time_ns) > s(10)
    AND count(*) * s(10) >= max(x.response_time_ns) - min(x.response_time_ns)
