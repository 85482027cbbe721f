-- Heartbeats that brokers sent the controller, and how long a broker was silent behind the reply: until the next one on the same
-- connection, or, where that is open, the end of the capture. Null without a reply, or with one that refuses (the broker waits longer and
-- longer then); of the last one of a connection that ended; where the next one came on another connection, as when another controller
-- took over; and where packets are missing: one that was lost can have been a heartbeat.
WITH beats AS (
    SELECT
        x.connection,
        x.client_address,
        x.client_id,
        x.broker_address || ':' || CAST(x.broker_port AS STRING) AS controller,
        x.exchange,
        x.response_end_ns AS begin_ns,
        lead(x.exchange) OVER one AS next_exchange,
        CASE WHEN c.client_gap_bytes = 0 AND c.broker_gap_bytes = 0 AND x.error_count = 0
            AND lead(x.exchange) OVER one IS NOT DISTINCT FROM lead(x.exchange) OVER anywhere
            THEN coalesce(lead(x.request_time_ns) OVER one, CASE WHEN c.close = 'none' THEN u.until_ns END) - x.response_end_ns
        END AS silent_ns
    FROM all_exchanges AS x
    JOIN all_connections AS c ON c.connection = x.connection
    LEFT JOIN captured_until AS u ON u.file = x.response_file
    WHERE x.api_key = api('BrokerHeartbeat') AND x.request_time_ns IS NOT NULL
    WINDOW
        one AS (PARTITION BY x.connection ORDER BY x.request_time_ns, x.exchange),
        anywhere AS (PARTITION BY c.tap, x.client_address, x.client_id ORDER BY x.request_time_ns, x.exchange)
)
SELECT * FROM beats WHERE exchange IN (SELECT exchange FROM exchanges WHERE api_key = api('BrokerHeartbeat'))
