-- Ways on which TCP window scaling (RFC 7323) is missing and missed, one row a client and broker.
-- A handshake of which at least one side has no window scale; a full window was waited for 10 times and for half a second in all. Beside
-- the receiver nothing shows as waiting: there three large messages that take a round trip for each window are the proof.
WITH scaled AS (
    SELECT broker_address, count(*) AS others
    FROM all_connections
    WHERE client_wscale IS NOT NULL AND broker_wscale IS NOT NULL
    GROUP BY broker_address
),
paced AS (
    SELECT
        c.connection,
        count(*) AS transfers,
        sum(x.receive_ns) AS lasted_ns
    FROM connections AS c JOIN exchanges AS x ON x.connection = c.connection
    WHERE c.mss IS NOT NULL AND (c.client_wscale IS NULL OR c.broker_wscale IS NULL) AND c.rtt_ns >= ms(5)
        AND x.response_bytes >= 200000 AND x.receive_ns > 0
        AND CAST(x.response_bytes AS DOUBLE) / x.receive_ns * c.rtt_ns BETWEEN 40000 AND 72000
    GROUP BY c.connection
    HAVING count(*) >= 3
),
unscaled AS (
    SELECT
        c.client_address,
        c.broker_address || ':' || CAST(c.broker_port AS STRING) AS broker,
        c.connection,
        t.client_id,
        t.exchange,
        c.client_full_window_ns,
        c.broker_full_window_ns,
        c.client_full_windows + c.broker_full_windows AS full_windows,
        greatest(
            CASE WHEN c.client_full_windows > 0 THEN c.client_max_unacked_bytes ELSE 0 END,
            CASE WHEN c.broker_full_windows > 0 THEN c.broker_max_unacked_bytes ELSE 0 END
        ) AS window_bytes,
        c.first_time_ns,
        c.last_time_ns,
        s.others,
        p.transfers,
        p.lasted_ns
    FROM connections AS c
    LEFT JOIN paced AS p ON p.connection = c.connection
    LEFT JOIN scaled AS s ON s.broker_address = c.broker_address
    LEFT JOIN connection_requests AS t ON t.connection = c.connection
    WHERE c.is_kafka AND c.mss IS NOT NULL AND (c.client_wscale IS NULL OR c.broker_wscale IS NULL)
)
SELECT
    client_address,
    max_by(client_id, (full_windows, connection)) AS who,
    broker,
    max(others) AS others,
    CASE WHEN sum(full_windows) >= 10 THEN max(window_bytes) ELSE 65535 END AS window_bytes,
    CASE WHEN sum(client_full_window_ns) >= sum(broker_full_window_ns) THEN 'the client' ELSE 'the broker' END AS sender,
    CASE WHEN sum(full_windows) >= 10 THEN TRY_CAST(greatest(sum(client_full_window_ns), sum(broker_full_window_ns)) AS BIGINT) END
        AS waited_ns,
    CASE WHEN sum(full_windows) < 10 THEN CAST(sum(transfers) AS BIGINT) END AS transfers,
    CAST(least(greatest(sum(client_full_window_ns), sum(broker_full_window_ns), coalesce(sum(lasted_ns), 0)), max_bigint()) AS BIGINT)
        AS weight,
    max_by(connection, (full_windows, connection)) AS connection,
    max_by(exchange, (full_windows, connection)) AS evidence_any,
    min(first_time_ns) AS first_time_ns,
    max(last_time_ns) AS last_time_ns
FROM unscaled
GROUP BY client_address, broker
HAVING (sum(full_windows) >= 10 AND greatest(sum(client_full_window_ns), sum(broker_full_window_ns)) >= ms(500))
    OR sum(transfers) >= 3
