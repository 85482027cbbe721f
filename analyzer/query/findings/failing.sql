-- severity: medium
-- rank: 90
-- when: errors having bool_or(expected IS NOT TRUE)
-- says: {api_name} fails with {name}, {times|time|times}[, at broker {at_broker}][, topic {topic}][, partition {at_partition}][, group {group_id}]: {who}[, one of {clients|client|clients}][; the broker says {refusal}][; to one of them the broker says {said}]
-- do: {advice}[ Batches of {refused_bytes} and more were refused.][ The members go by {taken}, this client offers {offered} first.][ {remover} did so.]
-- look: kanalyze errors --api {api_name}
-- explains: stuck_member(GROUP_MAX_SIZE_REACHED), metadata_storm(LISTENER_NOT_FOUND|INVALID_TOPIC_EXCEPTION|INVALID_REPLICATION_FACTOR|FENCED_LEADER_EPOCH|UNKNOWN_LEADER_EPOCH|KAFKA_STORAGE_ERROR|UNKNOWN_TOPIC_ID|INCONSISTENT_TOPIC_ID|REPLICA_NOT_AVAILABLE|NOT_LEADER_OR_FOLLOWER)
-- costs: refused
-- Errors beyond normal operation that no rule of their own tells of. High where records or offsets are concerned, the code is never
-- normal, and it came 10 times or for 10 s, or as long where a setting keeps a client out (`kept_out`); information where a code that is
-- never normal came once or twice to an API that moves no records and no members. What keeps a client out is told from the first
-- time on: many libraries ask once, and end. Never normal is also what refuses records of a producer for good, however often it
-- tries. What nobody judged may be a person trying something out: told from three times on. Times are requests, of whatever number
-- of partitions, and the first ones, which were still normal, are among them. One cause has one advice, however often it came. A topic
-- that is gone is asked for by its id first and by its name then, where the client gives its session up: one of each is one topic.
WITH judged AS (
    SELECT
        e.exchange,
        e.code,
        coalesce(e.name, 'error ' || CAST(e.code AS STRING)) AS name,
        coalesce(x.api_name, 'SASL token') AS api_name,
        coalesce(e.topic, e.topic_id) AS topic,
        e.topic AS named,
        CASE WHEN e.topic IS NULL THEN e.topic_id END AS unnamed,
        e.partition,
        x.group_id,
        x.member_id,
        left(rtrim(e.error_message, '. '), 300) AS error_message,
        x.client_address,
        x.broker_address || ':' || CAST(x.broker_port AS STRING) AS asked_broker,
        x.api_name IN (
            'Produce', 'Fetch', 'OffsetCommit', 'InitProducerId', 'AddPartitionsToTxn', 'AddOffsetsToTxn', 'EndTxn',
            'TxnOffsetCommit', 'ShareFetch'
        ) AS moves_records,
        x.api_name IN (
            'JoinGroup', 'Heartbeat', 'SyncGroup', 'SaslHandshake', 'SaslAuthenticate', 'ConsumerGroupHeartbeat',
            'ShareGroupHeartbeat', 'SASL token'
        ) AS moves_members,
        who(x) AS who,
        coalesce(x.response_time_ns, x.request_time_ns) AS time_ns,
        e.expected,
        bool_or(e.expected IS NOT TRUE) OVER (
            PARTITION BY x.client_address, x.client_id, x.api_key, e.code, coalesce(e.topic_id, e.topic), e.partition, e.entity
        ) AS fails,
        e.code IN (error('UNKNOWN_SERVER_ERROR', 'OFFSET_OUT_OF_RANGE', 'CORRUPT_MESSAGE', 'MESSAGE_TOO_LARGE', 'ILLEGAL_GENERATION',
            'UNKNOWN_MEMBER_ID', 'OUT_OF_ORDER_SEQUENCE_NUMBER', 'KAFKA_STORAGE_ERROR', 'SASL_AUTHENTICATION_FAILED',
            'FENCED_INSTANCE_ID', 'FENCED_MEMBER_EPOCH', 'STALE_MEMBER_EPOCH', 'TRANSACTION_ABORTABLE'))
        OR (e.code IN (error('INVALID_TOPIC_EXCEPTION', 'RECORD_LIST_TOO_LARGE', 'INVALID_REQUIRED_ACKS',
            'INVALID_TIMESTAMP', 'UNSUPPORTED_FOR_MESSAGE_FORMAT', 'UNSUPPORTED_COMPRESSION_TYPE', 'INVALID_RECORD'))
            AND x.api_name = 'Produce')
        OR (e.code = error('UNSUPPORTED_COMPRESSION_TYPE') AND x.api_name = 'Fetch') AS never_normal,
        e.code IN (error('INCONSISTENT_GROUP_PROTOCOL', 'INVALID_SESSION_TIMEOUT', 'GROUP_MAX_SIZE_REACHED',
            'UNSUPPORTED_ASSIGNOR', 'INVALID_REGULAR_EXPRESSION', 'INVALID_TRANSACTION_TIMEOUT'))
            AND x.api_name IN ('JoinGroup', 'ConsumerGroupHeartbeat', 'ShareGroupHeartbeat', 'InitProducerId') AS kept_out
    FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
    WHERE is_client(x.role) AND x.kind IS DISTINCT FROM 'forwarded'
        AND e.code NOT IN (error('REQUEST_TIMED_OUT', 'NOT_ENOUGH_REPLICAS', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
            'TOPIC_AUTHORIZATION_FAILED', 'GROUP_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED',
            'INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED', 'THROTTLING_QUOTA_EXCEEDED', 'REBOOTSTRAP_REQUIRED'))
        AND NOT (e.code = error('LEADER_NOT_AVAILABLE') AND coalesce(e.topic, e.topic_id) IS NOT NULL)
        AND NOT (e.code = error('OFFSET_OUT_OF_RANGE') AND x.api_name = 'Fetch')
        AND NOT (e.code = error('OUT_OF_ORDER_SEQUENCE_NUMBER') AND x.api_name = 'Produce')
        AND NOT (e.code = error('FENCED_INSTANCE_ID') AND x.group_id IS NOT NULL AND x.api_name NOT IN ('LeaveGroup', 'TxnOffsetCommit'))
        AND NOT (e.code IN (error('ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'STALE_MEMBER_EPOCH'))
            AND x.api_name IN ('OffsetCommit', 'TxnOffsetCommit'))
        AND NOT EXISTS (
            SELECT 1 FROM new_topics AS n
            WHERE n.topic = e.topic AND e.code IN (error('UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE',
                'NOT_LEADER_OR_FOLLOWER', 'UNKNOWN_TOPIC_ID'))
                AND x.response_time_ns BETWEEN n.created_ns - s(10) AND n.created_ns + s(10)
        )
)
SELECT
    api_name,
    name,
    code,
    count(DISTINCT j.exchange) AS times,
    CASE WHEN min(topic) = max(topic) THEN min(topic)
        WHEN min(named) = max(named) AND min(unnamed) = max(unnamed) AND count(DISTINCT who) = 1
            AND code = error('UNKNOWN_TOPIC_OR_PARTITION')
            THEN min(named) END AS topic,
    CASE WHEN min(group_id) = max(group_id) THEN min(group_id) END AS group_id,
    min_by(who, (time_ns, j.exchange)) AS who,
    nullif(count(DISTINCT who), 1) AS clients,
    coalesce(min_by(r.refusal, (time_ns, j.exchange)), CASE WHEN min(error_message) = max(error_message) THEN min(error_message) END) AS refusal,
    CASE WHEN min(error_message) < max(error_message) AND count(r.refusal) = 0 THEN min_by(error_message, (time_ns, j.exchange)) END AS said,
    CASE WHEN min(client_address) = max(client_address) THEN max(client_address) END AS client_address,
    -- Whose disk it is.
    CASE WHEN code = error('KAFKA_STORAGE_ERROR') AND min(asked_broker) = max(asked_broker) THEN min(asked_broker) END AS at_broker,
    -- Whose log it is, of which a part cannot be read.
    CASE WHEN code = error('CORRUPT_MESSAGE') AND api_name = 'Fetch' AND min(topic) = max(topic) AND min(partition) = max(partition)
        THEN min(partition) END AS at_partition,
    CASE WHEN code IN (error('MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE')) THEN min(z.bytes) END AS refused_bytes,
    CASE WHEN count(p.taken) = count(*) AND min(p.taken) = max(p.taken) AND min(p.offered) = max(p.offered) THEN min(p.taken) END AS taken,
    CASE WHEN count(p.taken) = count(*) AND min(p.taken) = max(p.taken) AND min(p.offered) = max(p.offered) THEN min(p.offered) END AS offered,
    CASE WHEN code = error('UNKNOWN_MEMBER_ID') AND count(d.remover) = count(*) AND min(d.remover) = max(d.remover) THEN min(d.remover) END AS remover,
    CASE
        WHEN code IN (error('UNKNOWN_TOPIC_ID', 'INCONSISTENT_TOPIC_ID')) AND api_name <> 'Metadata'
            THEN 'The topic was deleted, perhaps created anew under its name, and this client still asks for the id of the old one: restart the client (libraries that do not take up the new id stay here), and look where its group begins to read.'
        WHEN code = error('SASL_AUTHENTICATION_FAILED') AND bool_and(r.is_renewal)
            THEN 'The first logins of these connections were taken, and those that renew their sessions are not, so that the broker closes them: such a login must be of the same user (another role session is another user: give it a fixed name, as awsRoleSessionName), and its token must be new.'
        WHEN code = error('UNKNOWN_MEMBER_ID') AND count(d.remover) = count(*)
            THEN 'Another client took these members out of their group, as an operator or a tool does (removeMembersFromConsumerGroup, kafka-streams-application-reset.sh --force): nothing was wrong with them.'
        WHEN code = error('UNSUPPORTED_VERSION') AND api_name IN ('ConsumerGroupHeartbeat', 'ShareGroupHeartbeat', 'StreamsGroupHeartbeat')
            THEN 'These brokers know groups of this type, and have the feature turned off: kafka-features.sh describe shows group.version, share.version and streams.version, upgrade --feature turns one on when all brokers are new enough. Until then there are no such groups: consumers can go by the older protocol (group.protocol=classic), share consumers have none.'
        WHEN bool_and(coalesce(p.of_other_sort, false)) THEN 'Consumers and workers of Connect (or MirrorMaker, or a schema registry) share this name, and no group can be of both: give this client a group.id of its own.'
        WHEN code = error('GROUP_ID_NOT_FOUND') AND api_name LIKE '%GroupHeartbeat'
            THEN 'The coordinator has no group of this name and type: members of the older protocol (group.protocol) or of another type hold the name, so give this client a group.id of its own; or the group was deleted while this member was in it: where it does not join again by itself, restart it and upgrade its library.'
        ELSE coalesce(min(a.advice), 'Open the evidence with `kanalyze show` to see the whole reply; the Kafka protocol guide (kafka.apache.org/protocol) explains the error code.')
    END AS advice,
    CASE
        WHEN (never_normal AND moves_records OR kept_out AND count(DISTINCT j.exchange) >= 3)
            AND (count(DISTINCT j.exchange) >= 10 OR max(time_ns) - min(time_ns) >= s(10)) THEN 'high'
        WHEN NOT never_normal OR moves_records OR moves_members OR count(DISTINCT j.exchange) >= 3 THEN 'medium'
        ELSE 'info'
    END AS severity,
    count(DISTINCT j.exchange) AS weight,
    min_by(j.exchange, (time_ns, j.exchange)) AS evidence_first,
    max_by(j.exchange, (time_ns, j.exchange)) AS evidence_last,
    min(time_ns) AS first_time_ns,
    max(time_ns) AS last_time_ns
FROM judged AS j
LEFT JOIN error_advice AS a ON a.error = j.name
LEFT JOIN refused_sizes AS z ON z.exchange = j.exchange
LEFT JOIN refused_protocols AS p ON p.exchange = j.exchange
LEFT JOIN (SELECT exchange, again AS is_renewal, refusal FROM logins WHERE outcome = 'failed') AS r ON r.exchange = j.exchange
LEFT JOIN removed_members AS d ON d.of_group = j.group_id AND d.removed_id = j.member_id AND d.removed_ns <= j.time_ns
WHERE fails
GROUP BY api_name, name, code, never_normal, kept_out, moves_records, moves_members
-- Who was given a member id once, and is not seen to join with it, may still wait for the others of its group.
HAVING CASE WHEN code = error('MEMBER_ID_REQUIRED') THEN count(*) FILTER (WHERE NOT expected) >= 3
    ELSE never_normal OR kept_out OR count(DISTINCT CASE WHEN expected IS NOT TRUE THEN j.exchange END) >= 3 OR count(*) FILTER (WHERE NOT expected) > 0 END
