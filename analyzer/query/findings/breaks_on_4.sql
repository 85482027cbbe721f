-- severity: medium
-- rank: 20
-- when: exchange_sorts having bool_or(api_version < CASE WHEN api_key = api('Fetch') THEN 4 WHEN api_key = api('Produce') THEN 3 WHEN api_key IN (api('OffsetCommit', 'CreateTopics', 'OffsetForLeaderEpoch', 'AlterPartition')) THEN 2 WHEN api_key IN (api('ListOffsets', 'OffsetFetch', 'DeleteTopics', 'WriteTxnMarkers', 'DescribeAcls', 'CreateAcls', 'DeleteAcls', 'DescribeConfigs', 'AlterReplicaLogDirs', 'DescribeLogDirs', 'CreateDelegationToken', 'RenewDelegationToken', 'ExpireDelegationToken', 'DescribeDelegationToken', 'ShareGroupHeartbeat', 'ShareGroupDescribe', 'ShareFetch', 'ShareAcknowledge')) THEN 1 END)
-- says: {who}[ at {client_address}] will not work with Kafka 4: it sends {api_name} v{api_version}[, one of {versions|removed API version|removed API versions}]
-- do: Before the brokers are upgraded, upgrade the client or raise its configured protocol version (`kanalyze readiness` names the setting where it is known).
-- look: kanalyze readiness[ --client {who}]
-- delays: nobody
SELECT
    who() AS who,
    CASE WHEN client_id <> '' THEN client_address END AS client_address,
    min_by(api_name, (api_key, api_version)) AS api_name,
    min_by(api_version, (api_key, api_version)) AS api_version,
    nullif(count(*), 1) AS versions,
    CAST(sum(requests) AS BIGINT) AS weight,
    min_by(example_exchange, (first_time_ns, example_exchange)) AS evidence_first,
    min(first_time_ns) AS first_time_ns,
    max(last_time_ns) AS last_time_ns
FROM readiness_verdicts
WHERE release = (SELECT max_by(release, place) FROM kafka_releases) AND verdict = 'breaks'
GROUP BY client_id, client_address
