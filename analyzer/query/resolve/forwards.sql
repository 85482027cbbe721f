-- Exchanges as a proxy carried them on, which `exchanges` has as the client sent them.
SELECT
    f.exchange,
    f.from_exchange AS forwarded_from,
    f.proxies,
    p.connection,
    q.connection AS from_connection,
    y.api_key,
    y.api_name,
    q.client_address,
    q.broker_address AS proxy_address,
    CAST(q.broker_port AS INTEGER) AS proxy_port,
    p.client_address AS proxy_client_address,
    p.broker_address,
    CAST(p.broker_port AS INTEGER) AS broker_port,
    y.request_time_ns,
    y.request_end_ns,
    y.response_time_ns,
    y.response_end_ns,
    s.file AS request_file,
    y.request_number + s.packets_before AS request_packet,
    f.proxy_ns
FROM forwarded AS f
JOIN view_times AS y ON y.exchange = f.exchange
JOIN parts AS p ON p.part = f.part
JOIN parts AS q ON q.part = f.from_part
LEFT JOIN raw_splits AS s ON s.split = y.request_split
WHERE p.is_kafka AND q.is_kafka
