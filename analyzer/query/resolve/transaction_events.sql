-- Requests about transactions and producer ids.
SELECT
    s.exchange,
    l.connection,
    l.cluster,
    coalesce(x.response_end_ns, x.request_end_ns) AS time_ns,
    x.request_time_ns AS begin_ns,
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
JOIN raw_exchanges AS x ON x.exchange = s.exchange
JOIN connection_context AS l ON l.part = x.part
WHERE l.is_kafka
