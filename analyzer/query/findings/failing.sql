-- severity: medium
-- rank: 90
-- when: errors having bool_or(expected IS NOT TRUE)
-- says: {api_name} fails with {name}, {times|time|times}[, topic {topic}][, group {group_id}]: {who}[, one of {clients|client|clients}]
-- do: {advice}
-- look: kanalyze errors --api {api_name}
-- Errors beyond normal operation that no rule of their own tells of. High where records or offsets are concerned, the code is never
-- normal, and it came 10 times or for 10 s; information where a code that is never normal came once or twice to an API that moves
-- no records and no members. Never normal is also what refuses records of a producer for good, however often it tries. What nobody judged may be a person trying something out: told from three times on. Times are requests, of
-- whatever number of partitions. One cause has one advice, however often it came.
WITH judged AS (
    SELECT
        e.exchange,
        e.code,
        coalesce(e.name, 'error ' || CAST(e.code AS STRING)) AS name,
        coalesce(x.api_name, 'SASL token') AS api_name,
        coalesce(e.topic, e.topic_id) AS topic,
        x.group_id,
        x.client_address,
        x.api_name IN (
            'Produce', 'Fetch', 'OffsetCommit', 'InitProducerId', 'AddPartitionsToTxn', 'AddOffsetsToTxn', 'EndTxn',
            'TxnOffsetCommit', 'ShareFetch'
        ) AS moves_records,
        x.api_name IN (
            'JoinGroup', 'Heartbeat', 'SyncGroup', 'SaslHandshake', 'SaslAuthenticate', 'ConsumerGroupHeartbeat',
            'ShareGroupHeartbeat', 'SASL token'
        ) AS moves_members,
        coalesce(x.client_id, x.client_address) AS who,
        coalesce(x.response_time_ns, x.request_time_ns) AS time_ns,
        e.expected,
        e.code IN (-1, 1, 2, 7, 10, 19, 20, 22, 25, 29, 30, 31, 45, 47, 56, 58, 82, 90, 110, 113, 120)
        OR (e.code IN (17, 18, 21, 32, 43, 76, 87) AND x.api_name = 'Produce') AS never_normal
    FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
    WHERE e.expected IS NOT TRUE AND coalesce(x.role, 'client') = 'client' AND x.kind IS DISTINCT FROM 'forwarded'
        AND e.code NOT IN (7, 19, 20, 29, 30, 31, 47, 90, 89, 129)
        AND NOT (e.code = 5 AND coalesce(e.topic, e.topic_id) IS NOT NULL)
        AND NOT (e.code = 1 AND x.api_name = 'Fetch')
        AND NOT (e.code = 45 AND x.api_name = 'Produce')
        AND NOT (e.code IN (22, 25, 82, 113) AND x.api_name IN ('OffsetCommit', 'TxnOffsetCommit'))
        AND NOT EXISTS (
            SELECT 1 FROM new_topics AS n
            WHERE n.topic = e.topic AND e.code IN (3, 5, 6, 100)
                AND x.response_time_ns BETWEEN n.created_ns - 10000000000 AND n.created_ns + 10000000000
        )
)
SELECT
    api_name,
    name,
    code,
    count(DISTINCT exchange) AS times,
    CASE WHEN min(topic) = max(topic) THEN min(topic) END AS topic,
    CASE WHEN min(group_id) = max(group_id) THEN min(group_id) END AS group_id,
    min_by(who, (time_ns, exchange)) AS who,
    nullif(count(DISTINCT who), 1) AS clients,
    CASE WHEN min(client_address) = max(client_address) THEN max(client_address) END AS client_address,
    CASE
        WHEN code IN (3, 100) THEN 'Create the topic (kafka-topics.sh --create), or correct its name in the configuration of this client.'
        WHEN code IN (5, 6, 9, 72) THEN 'Find out which broker led these partitions and bring it back; kafka-topics.sh --describe shows which replicas are in sync.'
        WHEN code IN (10, 18) THEN 'Let the client send less at once (max.request.size, batch.size), or raise max.message.bytes of the topic.'
        WHEN code = 35 THEN 'The broker does not support this version: upgrade the client or the broker, or remove the protocol version from the configuration of the client.'
        WHEN code IN (14, 15, 16) THEN 'No broker coordinates this group or transaction: see whether the partitions of __consumer_offsets and __transaction_state have leaders.'
        WHEN code IN (23, 24) THEN 'Members of one group must share an assignor and a protocol: set partition.assignment.strategy alike in all of them.'
        WHEN code = 32 THEN 'The clock of this client is wrong, or its records are older or newer than the topic allows (message.timestamp.before.max.ms, message.timestamp.after.max.ms).'
        WHEN code IN (33, 34, 58) THEN 'Correct the login of this client: its mechanism (sasl.mechanism), user and password or token, and whether the port expects one.'
        WHEN code = 56 THEN 'The disk of the broker fails or is full: see its log.'
        ELSE 'Open the evidence with `kanalyze show` to see the whole reply; the Kafka protocol guide (kafka.apache.org/protocol) explains the error code.'
    END AS advice,
    CASE
        WHEN never_normal AND moves_records AND (count(DISTINCT exchange) >= 10 OR max(time_ns) - min(time_ns) >= 10000000000) THEN 'high'
        WHEN NOT never_normal OR moves_records OR moves_members OR count(DISTINCT exchange) >= 3 THEN 'medium'
        ELSE 'info'
    END AS severity,
    count(DISTINCT exchange) AS weight,
    min_by(exchange, (time_ns, exchange)) AS evidence_first,
    max_by(exchange, (time_ns, exchange)) AS evidence_last,
    min(time_ns) AS first_time_ns,
    max(time_ns) AS last_time_ns
FROM judged
GROUP BY api_name, name, code, never_normal, moves_records, moves_members
HAVING never_normal OR count(DISTINCT exchange) >= 3 OR count(*) FILTER (WHERE NOT expected) > 0
