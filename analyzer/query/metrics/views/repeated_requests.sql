-- Who sends the same request again and again? One row per client and API.
-- Five a second and more, for as long as a client may be stuck. Not of APIs that come with every batch, poll or transaction, or that
-- report to a group.
SELECT
    who() AS who,
    client_address,
    api_name,
    count(*) AS requests,
    (max(request_time_ns) - min(request_time_ns)) AS lasted_ns,
    CAST(count(*) * s(1) / (max(request_time_ns) - min(request_time_ns)) AS BIGINT) AS mean_per_s,
    count(*) AS weight,
    min_by(connection, (request_time_ns, exchange)) AS connection,
    min_by(exchange, (request_time_ns, exchange)) AS evidence_first,
    max_by(exchange, (request_time_ns, exchange)) AS evidence_last,
    min(request_time_ns) AS first_time_ns,
    max(request_time_ns) AS last_time_ns
FROM exchanges
WHERE is_client(role) AND api_name IS NOT NULL AND request_time_ns IS NOT NULL
    AND api_key NOT IN (api('Produce', 'Fetch', 'Heartbeat', 'ConsumerGroupHeartbeat', 'ShareGroupHeartbeat', 'StreamsGroupHeartbeat',
        'OffsetCommit', 'ShareFetch', 'ShareAcknowledge', 'AddPartitionsToTxn', 'AddOffsetsToTxn', 'EndTxn', 'TxnOffsetCommit', 'Envelope'))
GROUP BY who(), client_address, api_name
HAVING max(request_time_ns) - min(request_time_ns) >= impact('stuck_ns')
    AND count(*) * s(1) >= 1.0 * impact('repeated_per_s') * (max(request_time_ns) - min(request_time_ns))
