-- severity: medium
-- rank: 31
-- when: errors having bool_or(code = error('LEADER_NOT_AVAILABLE') AND expected IS NOT TRUE)
-- says: topic {topic} has partitions without a leader: {times|reply|replies} with LEADER_NOT_AVAILABLE in {lasted_ns}
-- do: Find out which broker led them and bring it back; kafka-topics.sh --describe --topic shows which replicas are in sync.
-- look: kanalyze errors --by topic --topic {topic}
-- explains: metadata_storm, failing(LEADER_NOT_AVAILABLE|KAFKA_STORAGE_ERROR|NOT_LEADER_OR_FOLLOWER), slow_requests
-- costs: refused(LEADER_NOT_AVAILABLE), repeated(Metadata)
-- LEADER_NOT_AVAILABLE beyond what a new topic or an election brings. Nobody writes to such a partition or reads from it. Three replies
-- beyond it, or two of a client that asks each few seconds and was refused before, as in an election, for 10 s in all. For information
-- where no request names the topic, all having been read: who asks for all topics is told of those that nobody misses. A large report
-- has no entries of Metadata; `named`: how many topics the requests named that were told so. Who asks for all sends no name: 20 bytes and
-- its client id are what such a request has, and a name adds its length, or the 16 bytes of an id.
WITH refused AS (
    SELECT
        l.cluster,
        coalesce(e.topic, e.topic_id) AS topic,
        x.client_address,
        x.client_id,
        e.exchange,
        max(x.topics) FILTER (
            WHERE x.request_bytes >= 20 + length(coalesce(x.client_id, '')) + least(length(coalesce(e.topic, e.topic_id)), 16)
        ) AS named,
        min(x.response_time_ns) AS time_ns,
        bool_or(e.expected IS NOT TRUE) AS is_late
    FROM errors AS e
    JOIN failed_exchanges AS x ON x.exchange = e.exchange
    LEFT JOIN clustered_connections AS l ON l.connection = x.connection
    WHERE e.code = error('LEADER_NOT_AVAILABLE') AND is_client(x.role)
        AND coalesce(e.topic, e.topic_id) IS NOT NULL
        AND NOT EXISTS (
            SELECT 1 FROM new_topics AS n
            WHERE n.topic = e.topic AND x.response_time_ns BETWEEN n.created_ns - s(10) AND n.created_ns + s(10)
        )
    GROUP BY l.cluster, coalesce(e.topic, e.topic_id), x.client_address, x.client_id, e.exchange
),
steps AS (
    SELECT
        *,
        time_ns - lag(time_ns, 1) OVER own AS after_ns,
        time_ns - lag(time_ns, 2) OVER own AS lasted_ns,
        coalesce(lag(is_late, 1) OVER own, false) AS was_late
    FROM refused
    WINDOW own AS (PARTITION BY cluster, topic, client_address, client_id ORDER BY time_ns, exchange)
)
SELECT
    cluster,
    topic,
    count(*) AS times,
    max(time_ns) - min(time_ns) AS lasted_ns,
    CASE WHEN min(client_address) = max(client_address) THEN max(client_address) END AS client_address,
    CASE WHEN coalesce(max(named), 0) = 0 AND topic NOT IN (
        SELECT coalesce(topic, topic_id) FROM entries WHERE side = 'request' AND coalesce(topic, topic_id) IS NOT NULL
    ) AND NOT EXISTS (SELECT 1 FROM exchanges WHERE request_decoded = 'truncated' AND is_client(role)) THEN 'info' END AS severity,
    count(*) AS weight,
    min_by(exchange, (time_ns, exchange)) AS evidence_first,
    max_by(exchange, (time_ns, exchange)) AS evidence_last,
    min(time_ns) AS first_time_ns,
    max(time_ns) AS last_time_ns
FROM steps
WHERE is_late
GROUP BY cluster, topic
HAVING count(*) >= 3
    OR bool_or(was_late AND lasted_ns BETWEEN impact('stuck_ns') AND s(40) AND after_ns BETWEEN s(3) AND lasted_ns - s(3))
