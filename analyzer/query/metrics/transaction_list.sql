-- Which transactions were there, and how did each end? One row per transaction: `outcome` committed, aborted, taken_over (by a
-- new InitProducerId) or open; `length_ns` from its first request to the EndTxn reply, null while open.
SELECT
    nullif(s.cluster, '') AS cluster, s.transactional_id, s.outcome, s.begin_ns, s.end_ns, s.length_ns, s.producer_id,
    s.producer_epoch, s.client_id, s.client_address, s.records, s.bytes, s.partitions, s.begin_exchange AS example_exchange
FROM transactions_seen AS s CROSS JOIN time_range AS r
WHERE s.transactional_id IN (SELECT transactional_id FROM exchanges WHERE transactional_id IS NOT NULL)
    AND coalesce(s.end_ns, r.last_time_ns) >= r.first_time_ns AND s.begin_ns <= r.last_time_ns
ORDER BY s.begin_ns, s.transactional_id, s.cluster
