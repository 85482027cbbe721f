-- What the requests and replies of one run tell of each part: signs that `part_evidence` puts together. `speaker` is the sort of
-- client, a number that `connection_context` names; the greatest counts. `mutes`: the broker is 2.0 or newer, as it
-- answered what no older one has. `throttled`: a
-- reply had a throttle time. `first_ns`, `last_ns`: when requests began that a broker answers only after the login. What the
-- client named has the time at which it was named: the newest counts (KIP-511).
-- `numbered`: a topic was created under a number for a client id, as brokers do at the controller for their internal topics, without
-- an Envelope where no request asked for them.
-- `bad_`, `read_`: how many bodies fit no version, or none of their API, and all others that there are.
-- AddPartitionsToTxn v4 comes from brokers (KIP-890). An admin client's abort sends WriteTxnMarkers too: brokers are recognised
-- by the client id that they use for such connections.
SELECT
    part,
    max(
        CASE
            WHEN token THEN 2
            WHEN api_key = 1 AND replica_id >= 0
                -- KRaft's own fetches have no session and do not wait for bytes; a follower's have, and do.
                THEN CASE WHEN session_epoch = -1 AND min_bytes = 0 THEN 8 ELSE 3 END
            -- A Fetch whose sender was cut off.
            WHEN api_key = 1 AND replica_id IS NULL THEN 1
            WHEN api_key < 4 THEN CASE WHEN client_id LIKE 'NetworkPartitionMetadataClient-client-%' THEN 7 ELSE 2 END
            WHEN api_key < 8 OR api_key = 56 OR api_key = 62 OR api_key = 63 OR api_key = 67 OR api_key = 70 OR api_key = 73
                THEN 4
            WHEN api_key = 17 OR api_key = 18 OR api_key = 36 THEN 0
            WHEN api_key = 24 AND api_version >= 4 THEN 6
            WHEN api_key = 27 THEN CASE WHEN client_id LIKE 'broker-%-txn-marker-sender' THEN 6 ELSE 0 END
            WHEN api_key BETWEEN 52 AND 54 OR api_key = 59 THEN 8
            WHEN api_key = 58 THEN 5
            WHEN api_key BETWEEN 83 AND 87 THEN 7
            WHEN api_key >= 8 THEN 2
            ELSE 0
        END
    ) AS speaker,
    max(
        CASE
            WHEN status = 'answered' AND (
                (api_key = 0 AND api_version >= 6) OR (api_key = 1 AND api_version >= 8) OR (api_key = 2 AND api_version >= 4)
                OR (api_key = 3 AND api_version >= 7) OR (api_key = 8 AND api_version >= 6) OR (api_key = 10 AND api_version >= 3)
                OR (api_key = 42 AND api_version >= 2) OR api_key >= 43
            ) THEN 1
            ELSE 0
        END
    ) AS mutes,
    max(CASE WHEN throttle_time_ms > 0 AND response_time_ns IS NOT NULL THEN 1 ELSE 0 END) AS throttled,
    max(CASE WHEN api_key = 19 AND client_id <> '' AND translate(client_id, '0123456789', '') = '' THEN 1 ELSE 0 END) AS numbered,
    count(*) FILTER (WHERE request_decoded = 'malformed') AS bad_requests,
    count(*) FILTER (WHERE request_decoded <> 'malformed' AND request_decoded <> 'none') AS read_requests,
    count(*) FILTER (WHERE response_decoded = 'malformed') AS bad_replies,
    count(*) FILTER (WHERE response_decoded <> 'malformed' AND response_decoded <> 'none') AS read_replies,
    min(request_time_ns) FILTER (WHERE answered_login) AS first_ns,
    max(request_time_ns) FILTER (WHERE answered_login) AS last_ns,
    max_by(software_name, request_time_ns) FILTER (WHERE software_name IS NOT NULL) AS software_name,
    max_by(software_version, request_time_ns) FILTER (WHERE software_name IS NOT NULL) AS software_version,
    max(request_time_ns) FILTER (WHERE software_name IS NOT NULL) AS software_ns,
    max_by(mechanism, request_time_ns) FILTER (WHERE mechanism IS NOT NULL) AS mechanism,
    max(request_time_ns) FILTER (WHERE mechanism IS NOT NULL) AS mechanism_ns
FROM (
    SELECT *, status = 'answered' AND NOT token AND api_key <> 17 AND api_key <> 18 AND api_key <> 36 AS answered_login
    FROM raw_exchanges
) AS x
GROUP BY part
