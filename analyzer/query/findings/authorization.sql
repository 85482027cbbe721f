-- severity: high
-- rank: 30
-- when: errors having bool_or(code IN (error('TOPIC_AUTHORIZATION_FAILED', 'GROUP_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED')))
-- says: {who}[ (user {principal})] is not authorized for {api_name}[ on {entity}]: {name}, {times|time|times}[; it was served until {changed_by} had ACLs {changed}]
-- do: {advice}
-- look: kanalyze errors[ --client {who}] --api {api_name}
-- explains: metadata_storm, commit_failures
-- costs: refused, repeated
-- High when a client that wants to move records or join a group was denied three times; a single denied call of an administrator is
-- for information.
WITH refused AS (
    SELECT
        who(x) AS who,
        max(x.principal) AS principal,
        x.api_key,
        x.api_name,
        min(l.cluster) AS first_cluster,
        max(l.cluster) AS last_cluster,
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
    FROM errors AS e
    JOIN failed_exchanges AS x ON x.exchange = e.exchange
    LEFT JOIN connections AS l ON l.connection = x.connection
    WHERE e.code IN (error('TOPIC_AUTHORIZATION_FAILED', 'GROUP_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED'))
        AND x.api_key <> api('Envelope')
    GROUP BY who(x), x.api_key, x.api_name, coalesce(e.name, CAST(e.code AS STRING))
),
-- When brokers served, before the first refusal, whom they refuse later.
served AS (
    SELECT r.who, r.api_key, r.name, min(x.response_time_ns) AS first_ns, max(x.response_time_ns) AS last_ns
    FROM refused AS r JOIN exchanges AS x ON x.api_key = r.api_key AND who(x) = r.who
    WHERE x.error_count = 0 AND x.response_time_ns <= r.first_time_ns
    GROUP BY r.who, r.api_key, r.name
),
-- Who changed ACLs meanwhile: whom brokers served for seconds after a change lost nothing by it.
changed AS (
    SELECT r.who, r.api_key, r.name, max_by(c.changed_by, c.time_ns) AS changed_by, max_by(c.api_name, c.time_ns) AS changed_with
    FROM refused AS r
    JOIN served AS s ON s.who = r.who AND s.api_key = r.api_key AND s.name = r.name
    JOIN changed_rights AS c
        ON c.cluster IS NOT DISTINCT FROM r.first_cluster AND r.first_cluster IS NOT DISTINCT FROM r.last_cluster
        AND c.time_ns BETWEEN greatest(s.first_ns, s.last_ns - s(5)) AND r.first_time_ns + s(1)
    GROUP BY r.who, r.api_key, r.name
)
SELECT
    r.* EXCLUDE (api_key, first_cluster, last_cluster),
    c.changed_by,
    CASE c.changed_with WHEN 'DeleteAcls' THEN 'deleted' WHEN 'CreateAcls' THEN 'made' END AS changed
FROM refused AS r LEFT JOIN changed AS c ON c.who = r.who AND c.api_key = r.api_key AND c.name = r.name
