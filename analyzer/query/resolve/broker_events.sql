-- What brokers tell the controller of themselves and of the partitions that they lead.
SELECT
    s.exchange,
    l.connection,
    l.cluster,
    x.time_ns,
    x.begin_ns,
    s.event,
    s.broker_id,
    l.client_address,
    s.broker_state,
    s.offline_log_dirs,
    coalesce(s.topic, n.topic) AS topic,
    s.topic_id,
    s.partition,
    s.isr,
    s.asked_isr,
    s.partition_epoch,
    s.error_code
FROM raw_broker_steps AS s
JOIN fact_times AS x ON x.exchange = s.exchange AND x.part = s.part
JOIN connection_context AS l ON l.part = s.part
LEFT JOIN topic_names AS n ON n.topic_id = s.topic_id
WHERE l.is_kafka
