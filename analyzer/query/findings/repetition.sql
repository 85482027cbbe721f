-- severity: info
-- rank: 98
-- when: exchange_sorts having sum(exchanges) FILTER (WHERE is_client AND api_key NOT IN (api('Produce', 'Fetch', 'Heartbeat', 'ConsumerGroupHeartbeat', 'ShareGroupHeartbeat', 'StreamsGroupHeartbeat', 'OffsetCommit', 'ShareFetch', 'ShareAcknowledge', 'AddPartitionsToTxn', 'AddOffsetsToTxn', 'EndTxn', 'TxnOffsetCommit', 'Envelope'))) * s(1) >= impact('repeated_per_s') * impact('stuck_ns')
-- lasts: impact('stuck_ns')
-- says: {who} sends {api_name} again and again, {mean_per_s} for {lasted_ns} ({requests|request|requests})
-- do: No rule tells the cause. Look at the log of this client for what makes it ask again, and whether it could keep the answer.
-- look: kanalyze latency --client {who} --api {api_name}
-- costs: repeated
SELECT * FROM repeated_requests
