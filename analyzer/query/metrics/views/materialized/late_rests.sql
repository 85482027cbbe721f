-- Clients that write the rest of a request long after its beginning, one row a client and broker.
-- Small enough to leave in one flight (ten segments, RFC 6928), and sent over 100 ms and twenty round trips: what was sent had been
-- acknowledged by then. Neither loss nor a full window held it back, and it is one request in twenty, ten at least.
WITH ways AS (
    SELECT connection, client_address, broker_address, broker_port, rtt_ns, to_broker_least_ns, first_time_ns, last_time_ns
    FROM connections
    WHERE is_kafka AND client_retransmitted = 0 AND client_gaps = 0 AND client_full_windows = 0
        AND coalesce(client_missing_ids, 0) = 0 AND one_way IS NULL
        AND is_client(role) AND coalesce(rtt_ns, to_broker_least_ns) IS NOT NULL
),
judged AS (
    SELECT
        w.*,
        x.exchange,
        x.request_time_ns,
        x.send_ns,
        who(x) AS who,
        x.request_bytes <= 14000 AND x.send_ns >= ms(100)
            AND x.send_ns / 20 >= greatest(coalesce(w.rtt_ns, 0), coalesce(w.to_broker_least_ns, 0)) AS is_held
    FROM ways AS w JOIN exchanges AS x ON x.connection = w.connection
    WHERE x.send_ns IS NOT NULL
)
SELECT
    client_address,
    min(who) FILTER (WHERE is_held) AS who,
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    count(*) FILTER (WHERE is_held) AS times,
    CAST(percentile_disc(0.5) WITHIN GROUP (ORDER BY CASE WHEN is_held THEN send_ns END) AS BIGINT) AS held_ns,
    count(*) FILTER (WHERE is_held) AS weight,
    max_by(connection, (send_ns, connection)) FILTER (WHERE is_held) AS connection,
    max_by(exchange, (send_ns, exchange)) FILTER (WHERE is_held) AS evidence_longest,
    min(request_time_ns) FILTER (WHERE is_held) AS first_time_ns,
    max(request_time_ns) FILTER (WHERE is_held) AS last_time_ns
FROM judged
GROUP BY client_address, broker_address, broker_port
HAVING count(*) FILTER (WHERE is_held) >= 10 AND count(*) FILTER (WHERE is_held) * 20 >= count(*)
