-- Receive buffers that are too small for their way, one row a client, broker and receiver.
-- Window scaling works, and yet the sender filled the receiver's window 10 times and waited half a second for it in all, on a way of
-- 10 ms and more. A receiver that closes its window does not read: that is another matter. 128 KiB is what Linux makes of the
-- 64 KiB that clients ask for.
WITH full_ones AS (
    SELECT
        c.client_address,
        c.broker_address || ':' || CAST(c.broker_port AS STRING) AS broker,
        c.connection,
        t.client_id,
        t.exchange,
        c.rtt_ns,
        w.receiver_is_client,
        CASE WHEN w.receiver_is_client THEN c.broker_full_windows ELSE c.client_full_windows END AS full_windows,
        CASE WHEN w.receiver_is_client THEN c.broker_full_window_ns ELSE c.client_full_window_ns END AS waited_ns,
        CASE WHEN w.receiver_is_client THEN c.broker_max_unacked_bytes ELSE c.client_max_unacked_bytes END AS window_bytes,
        CASE WHEN w.receiver_is_client THEN c.client_zero_windows ELSE c.broker_zero_windows END AS zero_windows,
        c.first_time_ns,
        c.last_time_ns
    FROM connections AS c
    CROSS JOIN (VALUES (TRUE), (FALSE)) AS w (receiver_is_client)
    LEFT JOIN connection_requests AS t ON t.connection = c.connection
    WHERE c.is_kafka AND c.client_wscale IS NOT NULL AND c.broker_wscale IS NOT NULL AND c.rtt_ns >= ms(10)
),
told AS (
    SELECT
        client_address,
        broker,
        receiver_is_client,
        max_by(client_id, (waited_ns, connection)) AS client_id,
        min(rtt_ns) AS round_trip_ns,
        max(window_bytes) AS window_bytes,
        sum(waited_ns) AS waited_ns,
        max_by(connection, (waited_ns, connection)) AS connection,
        max_by(exchange, (waited_ns, connection)) AS evidence_any,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM full_ones
    WHERE full_windows >= 10 AND zero_windows * 4 < full_windows AND window_bytes <= 131072
    GROUP BY client_address, broker, receiver_is_client
)
SELECT
    CASE WHEN receiver_is_client THEN coalesce(client_id || ' (' || client_address || ')', client_address) ELSE broker END AS receiver,
    CASE WHEN receiver_is_client THEN broker ELSE who() END AS sender,
    client_id AS who,
    client_address,
    broker,
    round_trip_ns,
    window_bytes,
    TRY_CAST(waited_ns AS BIGINT) AS waited_ns,
    CAST(least(waited_ns, max_bigint()) AS BIGINT) AS weight,
    connection,
    evidence_any,
    first_time_ns,
    last_time_ns
FROM told
WHERE waited_ns >= ms(500)
