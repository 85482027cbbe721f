-- Packets that waited in a queue between their host and the capture: what their lag is above the least of their side. What is not
-- above it by more than a tick of the timestamps may have waited nowhere. All packets of the connection may have waited, so this is
-- the time at least.
WITH sent AS (
    SELECT
        r.packet_split,
        r.packet_number,
        r.time_ns,
        r.bytes,
        r.lag_ns,
        l.connection,
        l.tap,
        l.client_address,
        l.broker_address,
        l.broker_port,
        r.from_address = l.client_address AND r.from_port = l.client_port AS by_client,
        l.client_lag_least_ns,
        l.broker_lag_least_ns
    FROM raw_queued AS r
    JOIN connection_context AS l ON l.part = r.part
    WHERE l.is_kafka OR l.may_be_kafka
),
waited AS (
    SELECT
        *,
        (lag_ns - CASE WHEN by_client THEN client_lag_least_ns ELSE broker_lag_least_ns END + lag_turns(1.5))
            % lag_turns(1) - lag_turns(0.5) AS waited_ns
    FROM sent
)
SELECT
    w.connection,
    w.tap,
    w.client_address,
    w.broker_address,
    w.broker_port,
    CASE WHEN w.by_client THEN 'client' ELSE 'broker' END AS sender,
    w.time_ns,
    s.file,
    w.packet_number + s.packets_before AS packet,
    w.bytes,
    w.waited_ns
FROM waited AS w
LEFT JOIN raw_splits AS s ON s.split = w.packet_split
WHERE w.waited_ns > ms(1)
