-- What the requests and replies of one run tell of each part: signs that `part_evidence` puts together. `speaker` is the sort of
-- client, a number that `connection_context` names; the greatest counts. `mutes`: the broker is 2.0 or newer, as it
-- answered what no older one has. `throttled`: a
-- reply had a throttle time. `first_ns`, `last_ns`: when requests began that a broker answers only after the login. What the
-- client named has the time at which it was named: the newest counts (KIP-511).
-- `numbered`: a topic was created under a number for a client id, as brokers do at the controller for their internal topics, without
-- an Envelope where no request asked for them.
-- `least_rack`, `most_rack`: the client.rack of its consumers, empty where none is configured; the same for all but those of a proxy.
-- `bad_`, `read_`: how many bodies fit no version, or none of their API, and all others that there are.
-- AddPartitionsToTxn v4 comes from brokers (KIP-890). An admin client's abort sends WriteTxnMarkers too: brokers are recognised
-- by the client id that they use for such connections.
-- Few messages name what a client is, and all others need not be read for it.
WITH named AS (
    SELECT
        part,
        max_by(software_name, request_time_ns) FILTER (WHERE software_name IS NOT NULL) AS software_name,
        max_by(software_version, request_time_ns) FILTER (WHERE software_name IS NOT NULL) AS software_version,
        max(request_time_ns) FILTER (WHERE software_name IS NOT NULL) AS software_ns,
        max_by(mechanism, request_time_ns) FILTER (WHERE mechanism IS NOT NULL) AS mechanism,
        max(request_time_ns) FILTER (WHERE mechanism IS NOT NULL) AS mechanism_ns
    FROM raw_exchanges
    WHERE software_name IS NOT NULL OR mechanism IS NOT NULL
    GROUP BY part
),
signs AS (
    SELECT
        part,
        max(
            CASE
                WHEN token THEN 2
                WHEN api_key = api('Fetch') AND replica_id >= 0
                    -- KRaft's own fetches have no session and do not wait for bytes; a follower's have, and do.
                    THEN CASE WHEN session_epoch = -1 AND min_bytes = 0 THEN 8 ELSE 3 END
                -- A Fetch whose sender was cut off.
                WHEN api_key = api('Fetch') AND replica_id IS NULL THEN 1
                WHEN api_key < api('LeaderAndIsr') THEN CASE WHEN client_id LIKE 'NetworkPartitionMetadataClient-client-%'
                    THEN 7 ELSE 2 END
                WHEN api_key < api('OffsetCommit') OR api_key = api('AlterPartition') OR api_key = api('BrokerRegistration')
                    OR api_key = api('BrokerHeartbeat') OR api_key = api('AllocateProducerIds')
                    OR api_key = api('ControllerRegistration') OR api_key = api('AssignReplicasToDirs')
                    THEN 4
                WHEN api_key = api('SaslHandshake') OR api_key = api('ApiVersions') OR api_key = api('SaslAuthenticate') THEN 0
                WHEN api_key = api('AddPartitionsToTxn') AND api_version >= 4 THEN 6
                WHEN api_key = api('WriteTxnMarkers') THEN CASE WHEN client_id LIKE 'broker-%-txn-marker-sender' THEN 6 ELSE 0 END
                WHEN api_key BETWEEN api('Vote') AND api('EndQuorumEpoch') OR api_key = api('FetchSnapshot') THEN 8
                WHEN api_key = api('Envelope') THEN 5
                WHEN api_key BETWEEN api('InitializeShareGroupState') AND api('ReadShareGroupStateSummary') THEN 7
                WHEN api_key >= api('OffsetCommit') THEN 2
                ELSE 0
            END
        ) AS speaker,
        max(
            CASE
                WHEN status = 'answered' AND (
                    (api_key = api('Produce') AND api_version >= 6) OR (api_key = api('Fetch') AND api_version >= 8)
                        OR (api_key = api('ListOffsets') AND api_version >= 4)
                    OR (api_key = api('Metadata') AND api_version >= 7) OR (api_key = api('OffsetCommit')
                        AND api_version >= 6) OR (api_key = api('FindCoordinator') AND api_version >= 3)
                    OR (api_key = api('DeleteGroups') AND api_version >= 2) OR api_key >= api('ElectLeaders')
                ) THEN 1
                ELSE 0
            END
        ) AS mutes,
        max(CASE WHEN throttle_time_ms > 0 AND response_time_ns IS NOT NULL THEN 1 ELSE 0 END) AS throttled,
        max(CASE WHEN api_key = api('CreateTopics') AND client_id <> '' AND translate(client_id, '0123456789', '') = ''
            THEN 1 ELSE 0 END) AS numbered,
        count(*) FILTER (WHERE request_decoded = 'malformed') AS bad_requests,
        count(*) FILTER (WHERE request_decoded <> 'malformed' AND request_decoded <> 'none') AS read_requests,
        count(*) FILTER (WHERE response_decoded = 'malformed') AS bad_replies,
        count(*) FILTER (WHERE response_decoded <> 'malformed' AND response_decoded <> 'none') AS read_replies,
        min(request_time_ns) FILTER (WHERE answered_login) AS first_ns,
        max(request_time_ns) FILTER (WHERE answered_login) AS last_ns,
        min(rack_id) FILTER (WHERE is_of_client) AS least_rack,
        max(rack_id) FILTER (WHERE is_of_client) AS most_rack
    FROM (
        SELECT *, status = 'answered' AND NOT token AND api_key <> api('SaslHandshake') AND api_key <> api('ApiVersions')
            AND api_key <> api('SaslAuthenticate') AS answered_login,
            api_key = api('Fetch') AND coalesce(replica_id, -1) < 0 AS is_of_client
        FROM raw_exchanges
    ) AS x
    GROUP BY part
)
SELECT s.*, n.software_name, n.software_version, n.software_ns, n.mechanism, n.mechanism_ns
FROM signs AS s LEFT JOIN named AS n ON n.part = s.part
