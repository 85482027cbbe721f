-- Who sent the messages that give facts about groups, transactions and brokers, and when: one row an exchange, of all views and legs.
-- Few exchanges are of these APIs, but where share groups read, and five views read them.
SELECT exchange, part, client_id, request_time_ns AS begin_ns, coalesce(response_end_ns, request_end_ns) AS time_ns
FROM raw_exchanges
WHERE api_key IN (
    api('JoinGroup', 'SyncGroup', 'LeaveGroup', 'ConsumerGroupHeartbeat', 'ShareGroupHeartbeat', 'StreamsGroupHeartbeat'),
    api('ShareFetch'),
    api('InitProducerId', 'AddPartitionsToTxn', 'AddOffsetsToTxn', 'EndTxn', 'TxnOffsetCommit'),
    api('ControlledShutdown', 'AlterPartition', 'BrokerHeartbeat')
)
