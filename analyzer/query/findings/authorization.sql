-- severity: high
-- rank: 30
-- when: errors having bool_or(code IN (error('TOPIC_AUTHORIZATION_FAILED', 'GROUP_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED')))
-- says: {who}[ (user {principal})] is not authorized for {api_name}[ on {entity}]: {name}, {times|time|times}
-- do: {advice}
-- look: kanalyze errors[ --client {who}] --api {api_name}
-- explains: metadata_storm, commit_failures
-- costs: refused, repeated
-- High when a client that wants to move records or join a group was denied three times; a single denied call of an administrator is
-- for information.
SELECT
    who(x) AS who,
    max(x.principal) AS principal,
    x.api_name,
    coalesce(e.name, CAST(e.code AS STRING)) AS name,
    coalesce(max(e.topic), max(x.group_id), max(e.entity)) AS entity,
    count(*) AS times,
    CASE WHEN x.api_name = 'InitProducerId' AND max(e.code) = error('CLUSTER_AUTHORIZATION_FAILED')
        THEN 'The producer is idempotent, as Java clients from 3.0 on are by themselves: grant this user IdempotentWrite on the cluster (from brokers 2.8 on, Write on any topic will do), or set enable.idempotence=false.'
        ELSE 'Grant this user the missing ACL (kafka-acls.sh --add), or find out why this client sends the request.' END AS advice,
    count(*) AS weight,
    CASE
        WHEN x.api_key IN (api('Produce', 'Fetch', 'Metadata', 'OffsetCommit', 'FindCoordinator', 'JoinGroup',
            'InitProducerId', 'AddPartitionsToTxn', 'EndTxn', 'ConsumerGroupHeartbeat', 'ShareGroupHeartbeat',
            'ShareFetch')) AND count(*) >= 3 THEN 'high'
        WHEN x.api_key IN (api('Produce', 'Fetch', 'Metadata', 'OffsetCommit', 'FindCoordinator', 'JoinGroup',
            'InitProducerId', 'AddPartitionsToTxn', 'EndTxn', 'ConsumerGroupHeartbeat', 'ShareGroupHeartbeat',
            'ShareFetch')) OR count(*) >= 3 THEN 'medium'
        ELSE 'info'
    END AS severity,
    min_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_first,
    max_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_last,
    min(x.response_time_ns) AS first_time_ns,
    max(x.response_time_ns) AS last_time_ns
FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
WHERE e.code IN (error('TOPIC_AUTHORIZATION_FAILED', 'GROUP_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED'))
    AND x.api_key <> api('Envelope')
GROUP BY who(x), x.api_key, x.api_name, coalesce(e.name, CAST(e.code AS STRING))
