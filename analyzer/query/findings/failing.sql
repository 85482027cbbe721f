-- severity: medium
-- rank: 90
-- when: errors having bool_or(expected IS NOT TRUE)
-- says: {api_name} fails with {name}, {times|time|times}[, topic {topic}][, group {group_id}]: {who}[, one of {clients|client|clients}]
-- do: {advice}
-- look: kanalyze errors --api {api_name}
-- explains: stuck_member(GROUP_MAX_SIZE_REACHED), metadata_storm(LISTENER_NOT_FOUND|INVALID_TOPIC_EXCEPTION|INVALID_REPLICATION_FACTOR|FENCED_LEADER_EPOCH|UNKNOWN_LEADER_EPOCH|KAFKA_STORAGE_ERROR|UNKNOWN_TOPIC_ID|INCONSISTENT_TOPIC_ID|REPLICA_NOT_AVAILABLE|NOT_LEADER_OR_FOLLOWER)
-- costs: refused
-- Errors beyond normal operation that no rule of their own tells of. High where records or offsets are concerned, the code is never
-- normal, and it came 10 times or for 10 s, or as long where a setting keeps a client out (`kept_out`); information where a code that is
-- never normal came once or twice to an API that moves no records and no members. What keeps a client out is told from the first
-- time on: many libraries ask once, and end. Never normal is also what refuses records of a producer for good, however often it
-- tries. What nobody judged may be a person trying something out: told from three times on. Times are requests, of whatever number
-- of partitions, and the first ones, which were still normal, are among them. One cause has one advice, however often it came.
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
        who(x) AS who,
        coalesce(x.response_time_ns, x.request_time_ns) AS time_ns,
        e.expected,
        bool_or(e.expected IS NOT TRUE) OVER (
            PARTITION BY x.client_address, x.client_id, x.api_key, e.code, coalesce(e.topic_id, e.topic), e.partition, e.entity
        ) AS fails,
        e.code IN (error('UNKNOWN_SERVER_ERROR', 'OFFSET_OUT_OF_RANGE', 'CORRUPT_MESSAGE', 'REQUEST_TIMED_OUT',
            'MESSAGE_TOO_LARGE', 'NOT_ENOUGH_REPLICAS', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'ILLEGAL_GENERATION',
            'UNKNOWN_MEMBER_ID', 'TOPIC_AUTHORIZATION_FAILED', 'GROUP_AUTHORIZATION_FAILED',
            'CLUSTER_AUTHORIZATION_FAILED', 'OUT_OF_ORDER_SEQUENCE_NUMBER', 'INVALID_PRODUCER_EPOCH',
            'KAFKA_STORAGE_ERROR', 'SASL_AUTHENTICATION_FAILED', 'FENCED_INSTANCE_ID', 'PRODUCER_FENCED',
            'FENCED_MEMBER_EPOCH', 'STALE_MEMBER_EPOCH', 'TRANSACTION_ABORTABLE'))
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
        AND NOT (e.code IN (error('ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID',
            'STALE_MEMBER_EPOCH')) AND x.api_name IN ('OffsetCommit', 'TxnOffsetCommit'))
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
    count(DISTINCT exchange) AS times,
    CASE WHEN min(topic) = max(topic) THEN min(topic) END AS topic,
    CASE WHEN min(group_id) = max(group_id) THEN min(group_id) END AS group_id,
    min_by(who, (time_ns, exchange)) AS who,
    nullif(count(DISTINCT who), 1) AS clients,
    CASE WHEN min(client_address) = max(client_address) THEN max(client_address) END AS client_address,
    CASE
        WHEN code IN (error('UNKNOWN_TOPIC_ID', 'INCONSISTENT_TOPIC_ID')) AND api_name <> 'Metadata'
            THEN 'The topic was deleted, perhaps created anew under its name, and this client still asks for the id of the old one: restart the client (libraries that do not take up the new id stay here), and look where its group begins to read.'
        WHEN code IN (error('UNKNOWN_TOPIC_OR_PARTITION', 'UNKNOWN_TOPIC_ID'))
            THEN 'Create the topic (kafka-topics.sh --create), or correct its name in the configuration of this client.'
        WHEN code = error('LISTENER_NOT_FOUND')
            THEN 'The broker that leads these partitions has no listener of the name by which this client comes in: give all brokers the same listeners (listeners, advertised.listeners).'
        WHEN code IN (error('LEADER_NOT_AVAILABLE', 'NOT_LEADER_OR_FOLLOWER', 'REPLICA_NOT_AVAILABLE'))
            THEN 'Find out which broker led these partitions and bring it back; kafka-topics.sh --describe shows which replicas are in sync.'
        WHEN code IN (error('FENCED_LEADER_EPOCH', 'UNKNOWN_LEADER_EPOCH', 'OFFSET_NOT_AVAILABLE'))
            THEN 'Client and broker do not know the same leader epoch of this partition: old metadata from a broker that is behind (kafka-topics.sh --describe at each broker), an election that is not over, or a client that does not take up what it hears: restart it.'
        WHEN code IN (error('MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'))
            THEN 'Let the client send less at once (max.request.size, batch.size), or raise max.message.bytes of the topic.'
        WHEN code = error('UNSUPPORTED_COMPRESSION_TYPE')
            THEN 'These records are packed by a codec for which this client is too old (zstd: Produce 7, Fetch 10, Kafka 2.1): upgrade its library, or the protocol version in its configuration, or set another compression.type where they are written.'
        WHEN code = error('UNSUPPORTED_FOR_MESSAGE_FORMAT')
            THEN 'The topic is kept in an older message format, without headers and transactions: raise its message.format.version, or let the client do without them.'
        WHEN code = error('UNSUPPORTED_VERSION')
            THEN 'The broker does not support this version: upgrade the client or the broker, or remove the protocol version from the configuration of the client.'
        WHEN code = error('COORDINATOR_LOAD_IN_PROGRESS')
            THEN 'The coordinator still reads its part of __consumer_offsets or __transaction_state: see its log. Where that takes minutes, that part was not compacted for long (the log cleaner is off or dead), or the disk is slow.'
        WHEN code = error('COORDINATOR_NOT_AVAILABLE')
            THEN 'No broker coordinates this group or transaction: see whether __consumer_offsets and __transaction_state have leaders. Too few brokers for offsets.topic.replication.factor (transaction.state.log.replication.factor) cannot create them.'
        WHEN code = error('NOT_COORDINATOR')
            THEN 'This broker does not coordinate the group or transaction. Where FindCoordinator names it each time, brokers disagree: see their logs, and restart the one behind. Where it names another, or is not asked, restart or upgrade the client.'
        WHEN code = error('CONCURRENT_TRANSACTIONS')
            THEN 'An earlier transaction of this transactional id is not ended: kafka-transactions.sh describe shows its state. Its markers cannot be written while one of its partitions has no leader; see the log of the transaction coordinator.'
        WHEN code = error('UNKNOWN_PRODUCER_ID')
            THEN 'The broker has forgotten this producer, as the last records that it wrote were deleted by retention: keep records for longer, and upgrade brokers and client to 2.5 or newer, which recover from it.'
        WHEN code = error('INVALID_PRODUCER_ID_MAPPING')
            THEN 'The coordinator has forgotten this transactional id, which had no transaction for transactional.id.expiration.ms (7 days): close this producer and make a new one.'
        WHEN code = error('INVALID_TXN_STATE')
            THEN 'The producer asks for what the state of its transaction does not allow: it went on after an error, or two share the transactional id. Close it and make a new one after each fatal error.'
        WHEN code = error('UNSTABLE_OFFSET_COMMIT')
            THEN 'A transaction that holds offsets of this group is not ended, and until then the group cannot start: find its producer (kafka-transactions.sh list, describe), end it or wait for transaction.timeout.ms.'
        WHEN code = error('UNRELEASED_INSTANCE_ID')
            THEN 'Another member still holds this group.instance.id: one that ended without leaving (it is dropped after the session timeout), or two that run with the same id.'
        WHEN code = error('GROUP_MAX_SIZE_REACHED')
            THEN 'The group has as many members as the broker allows (group.max.size): start fewer of them, or raise that limit.'
        WHEN code = error('INVALID_SESSION_TIMEOUT')
            THEN 'Set session.timeout.ms of this client within the limits of the broker (group.min.session.timeout.ms, group.max.session.timeout.ms).'
        WHEN code = error('INVALID_TRANSACTION_TIMEOUT')
            THEN 'Lower transaction.timeout.ms of this producer: the broker allows transaction.max.timeout.ms at most.'
        WHEN code = error('INVALID_REPLICATION_FACTOR')
            THEN 'The topic is to have more replicas than there are brokers alive: lower replication.factor (where topics are created by their first use: default.replication.factor), or bring the missing brokers back.'
        WHEN code IN (error('INCONSISTENT_GROUP_PROTOCOL', 'INVALID_GROUP_ID'))
            THEN 'Members of one group must share an assignor and a protocol: set partition.assignment.strategy alike in all of them, and group.protocol too, unless the brokers let classic and newer members mix (group.consumer.migration.policy).'
        WHEN code = error('MEMBER_ID_REQUIRED')
            THEN 'This client never joins under the member id that the broker gives it, as brokers demand since 2.2 (KIP-394): upgrade its library.'
        WHEN code = error('INVALID_TIMESTAMP')
            THEN 'The clock of this client is wrong, or its records are older or newer than the topic allows (message.timestamp.before.max.ms, message.timestamp.after.max.ms).'
        WHEN code = error('INVALID_RECORD_STATE')
            THEN 'The lock on these records ended before this share consumer acknowledged them (group.share.record.lock.duration.ms), so they are delivered again. Take less at once (share.acquire.mode=record_limit, max.poll.records), or lengthen the lock.'
        WHEN code IN (error('UNSUPPORTED_SASL_MECHANISM', 'ILLEGAL_SASL_STATE', 'SASL_AUTHENTICATION_FAILED'))
            THEN 'Correct the login of this client: its mechanism (sasl.mechanism), user and password or token, and whether the port expects one.'
        WHEN code = error('INVALID_TOPIC_EXCEPTION')
            THEN 'No topic can have this name (letters, digits, dots, underscores and hyphens, 249 at most; internal topics are not for clients): correct it in the configuration of this client.'
        WHEN code IN (error('POLICY_VIOLATION', 'INVALID_CONFIG', 'INVALID_PARTITIONS', 'INVALID_REQUEST', 'INVALID_RECORD'))
            THEN 'The broker refuses what the request asks for, and mostly says why in its reply: open the evidence with `kanalyze show`.'
        WHEN code = error('NOT_CONTROLLER')
            THEN 'This client asks a broker that is not the controller: see whether there is one (kafka-metadata-quorum.sh describe --status), and whether Metadata names it.'
        WHEN code IN (error('DELEGATION_TOKEN_EXPIRED', 'DELEGATION_TOKEN_NOT_FOUND', 'DELEGATION_TOKEN_OWNER_MISMATCH'))
            THEN 'The delegation token is not valid any more, or not of this user: create a new one (kafka-delegation-tokens.sh --create), and renew it before it expires.'
        WHEN code IN (error('DELEGATION_TOKEN_AUTH_DISABLED', 'DELEGATION_TOKEN_REQUEST_NOT_ALLOWED'))
            THEN 'The brokers make no delegation tokens (delegation.token.secret.key), or this connection may not ask for one: it must have logged in by SASL or a certificate, and not by a token.'
        WHEN code = error('UNKNOWN_SERVER_ERROR')
            THEN 'The broker failed at it unexpectedly: its log has the exception of that time (a plugin, remote storage, a disk).'
        WHEN code = error('CORRUPT_MESSAGE')
            THEN 'Checksums do not fit: of Produce, bytes were changed on their way, or records without key go to a compacted topic; of Fetch, the log of the broker is damaged (see its log, kafka-dump-log.sh).'
        WHEN code = error('KAFKA_STORAGE_ERROR') THEN 'The disk of the broker fails or is full: see its log.'
        ELSE 'Open the evidence with `kanalyze show` to see the whole reply; the Kafka protocol guide (kafka.apache.org/protocol) explains the error code.'
    END AS advice,
    CASE
        WHEN (never_normal AND moves_records OR kept_out AND count(DISTINCT exchange) >= 3)
            AND (count(DISTINCT exchange) >= 10 OR max(time_ns) - min(time_ns) >= s(10)) THEN 'high'
        WHEN NOT never_normal OR moves_records OR moves_members OR count(DISTINCT exchange) >= 3 THEN 'medium'
        ELSE 'info'
    END AS severity,
    count(DISTINCT exchange) AS weight,
    min_by(exchange, (time_ns, exchange)) AS evidence_first,
    max_by(exchange, (time_ns, exchange)) AS evidence_last,
    min(time_ns) AS first_time_ns,
    max(time_ns) AS last_time_ns
FROM judged
WHERE fails
GROUP BY api_name, name, code, never_normal, kept_out, moves_records, moves_members
-- Who was given a member id once, and is not seen to join with it, may still wait for the others of its group.
HAVING CASE WHEN code = error('MEMBER_ID_REQUIRED') THEN count(*) FILTER (WHERE NOT expected) >= 3
    ELSE never_normal OR kept_out OR count(DISTINCT CASE WHEN expected IS NOT TRUE THEN exchange END) >= 3 OR count(*) FILTER (WHERE NOT expected) > 0 END
