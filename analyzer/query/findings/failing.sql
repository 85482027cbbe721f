-- severity: medium
-- rank: 90
-- when: errors having bool_or(expected IS NOT TRUE)
-- says: {api_name} fails with {name}, {times|time|times}[, topic {topic}][, group {group_id}]: {who}[, one of {clients|client|clients}]
-- do: Open the evidence with `kanalyze show` to see the whole reply; the Kafka protocol guide (kafka.apache.org/protocol) explains the error code.
-- look: kanalyze errors --api {api_name}
-- Errors beyond normal operation that no rule of their own tells of. High where records or offsets are concerned, the code is never
-- normal, and it came 10 times or for 10 s; information where a code that is never normal came once or twice to an API that moves
-- no records and no members. Never normal is also what refuses records of a producer for good, however often it tries. What nobody judged may be a person trying something out: told from three times on.
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
)
SELECT
    api_name,
    name,
    code,
    count(*) AS times,
    CASE WHEN min(topic) = max(topic) THEN min(topic) END AS topic,
    CASE WHEN min(group_id) = max(group_id) THEN min(group_id) END AS group_id,
    min_by(who, (time_ns, exchange)) AS who,
    nullif(count(DISTINCT who), 1) AS clients,
    CASE WHEN min(client_address) = max(client_address) THEN max(client_address) END AS client_address,
    CASE
        WHEN never_normal AND moves_records AND (count(*) >= 10 OR max(time_ns) - min(time_ns) >= 10000000000) THEN 'high'
        WHEN NOT never_normal OR moves_records OR moves_members OR count(*) >= 3 THEN 'medium'
        ELSE 'info'
    END AS severity,
    count(*) AS weight,
    min_by(exchange, (time_ns, exchange)) AS evidence_first,
    max_by(exchange, (time_ns, exchange)) AS evidence_last,
    min(time_ns) AS first_time_ns,
    max(time_ns) AS last_time_ns
FROM judged
GROUP BY api_name, name, code, never_normal, moves_records, moves_members
HAVING never_normal OR count(*) >= 3 OR count(*) FILTER (WHERE NOT expected) > 0
