-- severity: medium
-- rank: 11
-- when: connections having max(greatest(client_full_windows, broker_full_windows)) >= 10
-- says: window scaling is missing between {client_address}[ ({who})] and {broker}[, though {others} to this broker have it]: at most {window_bytes} are on the way, and {sender} waited {waited_ns} for that window
-- do: A firewall, proxy or balancer on this way takes the window scale option out of the handshake (RFC 7323): let it pass TCP options.
-- look: kanalyze connections --client {client_address}
-- explains: rate_limited_link, far_broker, client_not_reading, lag_growing, head_of_line
-- A handshake of which at least one side has no window scale; a full window was waited for 10 times and for half a second in all.
-- Others that have it show that the broker offers it.
WITH scaled AS (
    SELECT broker_address, count(*) AS others
    FROM all_connections
    WHERE client_wscale IS NOT NULL AND broker_wscale IS NOT NULL
    GROUP BY broker_address
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
        s.others
    FROM connections AS c
    LEFT JOIN scaled AS s ON s.broker_address = c.broker_address
    LEFT JOIN connection_talk AS t ON t.connection = c.connection
    WHERE c.is_kafka AND c.mss IS NOT NULL AND (c.client_wscale IS NULL OR c.broker_wscale IS NULL)
)
SELECT
    client_address,
    max_by(client_id, (full_windows, connection)) AS who,
    broker,
    max(others) AS others,
    max(window_bytes) AS window_bytes,
    CASE WHEN sum(client_full_window_ns) >= sum(broker_full_window_ns) THEN 'the client' ELSE 'the broker' END AS sender,
    CAST(greatest(sum(client_full_window_ns), sum(broker_full_window_ns)) AS BIGINT) AS waited_ns,
    CAST(greatest(sum(client_full_window_ns), sum(broker_full_window_ns)) AS BIGINT) AS weight,
    max_by(connection, (full_windows, connection)) AS connection,
    max_by(exchange, (full_windows, connection)) AS evidence_any,
    min(first_time_ns) AS first_time_ns,
    max(last_time_ns) AS last_time_ns
FROM unscaled
GROUP BY client_address, broker
HAVING sum(full_windows) >= 10 AND greatest(sum(client_full_window_ns), sum(broker_full_window_ns)) >= 500000000
