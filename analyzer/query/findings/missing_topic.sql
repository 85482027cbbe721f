-- severity: medium
-- rank: 38
-- when: errors having bool_or(code IN (3, 100))
-- says: {who} keeps asking for {topic}, which does not exist, for {lasted_ns} ({times|time|times})
-- do: Create the topic (kafka-topics.sh --create), or correct its name in the configuration of this client.
-- look: kanalyze errors --by topic --by client[ --client {who}][ --topic {topic}]
-- explains: metadata_storm, failing(UNKNOWN_TOPIC_OR_PARTITION|UNKNOWN_TOPIC_ID), connection_storm
-- Beyond what a first use brings: for more than a minute, or at least 20 times in more than 10 s: a topic that is just being made is there by then.
SELECT
    coalesce(x.client_id, x.client_address) AS who,
    coalesce(e.topic, e.topic_id) AS topic,
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
WHERE e.code IN (3, 100) AND coalesce(x.role, 'client') = 'client' AND e.expected IS DISTINCT FROM true
GROUP BY c.cluster, coalesce(x.client_id, x.client_address), coalesce(e.topic, e.topic_id), e.code
HAVING max(x.response_time_ns) - min(x.response_time_ns) > 60000000000
    OR (count(*) >= 20 AND max(x.response_time_ns) - min(x.response_time_ns) > 10000000000)
