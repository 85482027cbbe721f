-- Times in which brokers sent nothing on TLS connections whose content nobody could read.
SELECT
    l.connection,
    l.tap,
    l.client_address,
    l.broker_address,
    l.broker_port,
    r.begin_ns,
    r.asked_ns AS asked_time_ns,
    r.end_ns,
    s.file,
    r.packet_number + s.packets_before AS packet
FROM raw_silences AS r
JOIN parts AS p ON p.part = r.part
JOIN connection_context AS l ON l.part = r.part
LEFT JOIN raw_splits AS s ON s.split = r.packet_split
WHERE l.may_be_kafka AND r.side <> p.client_side
