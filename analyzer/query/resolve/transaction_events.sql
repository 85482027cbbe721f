-- Requests about transactions and producer ids.
SELECT
    s.exchange,
    l.connection,
    l.cluster,
    x.time_ns,
    x.begin_ns,
    s.event,
    x.client_id,
    s.transactional_id,
    s.producer_id,
    s.producer_epoch,
    s.new_producer_epoch,
    s.committed,
    s.group_id,
    s.transaction_timeout_ms,
    s.error_code
FROM raw_transaction_steps AS s
JOIN fact_times AS x ON x.exchange = s.exchange AND x.part = s.part
JOIN connection_context AS l ON l.part = s.part
WHERE l.is_kafka
