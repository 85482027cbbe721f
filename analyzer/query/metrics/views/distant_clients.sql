-- Which clients wait for a far broker, a round trip for each request? One row per client and broker: `way_share` of
-- its time is round trips of `round_trip_ns`; `unread` says how this is known of TLS without keys.
-- The least round trip of the handshakes of two hosts, 20 ms or more; where no handshake is in the capture, of bytes to their ACKs
-- on both sides of it, 45 ms or more: a receiver delays an ACK for 40 ms. Requests that do not wait by design, each sent when the reply
-- before it was there and a round trip or more after the request before it, 30 at least. Wherever the capture was taken, each costs
-- its client one round trip. Medium when four fifths of the connection's life are that: one
-- that gathers records between two requests is in no hurry. Who sends by a clock waits for no reply: from request to request the time
-- is the same, and what varies with the latency is the time from a reply to the next request.
-- Of TLS without keys packets tell it: one of the client's for one of the broker's, the client's the larger ones on average, and one of
-- each in nearly every round trip of the connection's life, never more (but for its handshake): four fifths of it at least.
WITH far AS (
    SELECT
        client_address,
        broker_address,
        coalesce(min(rtt_ns), min(to_broker_least_ns) + min(to_client_least_ns)) AS round_trip_ns
    FROM connections
    WHERE is_kafka AND is_client(role)
    GROUP BY client_address, broker_address
    HAVING min(rtt_ns) >= ms(20) OR (min(rtt_ns) IS NULL AND min(to_broker_least_ns) + min(to_client_least_ns) >= ms(45))
),
steps AS (
    SELECT
        x.connection,
        x.exchange,
        x.client_id,
        x.client_address,
        x.broker_address,
        x.broker_port,
        x.kind,
        x.request_time_ns,
        x.response_end_ns,
        x.total_ns,
        f.round_trip_ns,
        lag(x.request_time_ns) OVER following AS earlier_ns,
        lag(x.response_end_ns) OVER following AS answered_ns
    FROM far AS f JOIN exchanges AS x ON x.client_address = f.client_address AND x.broker_address = f.broker_address
    WHERE x.request_time_ns IS NOT NULL
    WINDOW following AS (PARTITION BY x.connection ORDER BY x.request_time_ns, x.exchange)
),
waits AS (
    SELECT
        x.connection,
        who(x) AS who,
        x.client_address,
        x.broker_address || ':' || CAST(x.broker_port AS STRING) AS broker,
        x.round_trip_ns,
        count(*) AS requests,
        CAST(count(*) AS DOUBLE) * x.round_trip_ns AS way_ns,
        max(x.response_end_ns) - min(x.request_time_ns) AS life_ns,
        max_by(x.exchange, (x.total_ns, x.exchange)) AS evidence_slowest,
        min(x.request_time_ns) AS first_time_ns,
        max(x.request_time_ns) AS last_time_ns
    FROM steps AS x
    LEFT JOIN kinds AS k ON k.kind = x.kind
    WHERE x.total_ns IS NOT NULL AND coalesce(k.reach, 'broker') = 'broker'
        AND (x.earlier_ns IS NULL OR (x.request_time_ns >= x.answered_ns AND x.request_time_ns - x.earlier_ns >= 0.9 * x.round_trip_ns))
    GROUP BY
        x.connection, who(x), x.client_address, x.broker_address, x.broker_port,
        x.round_trip_ns
    HAVING count(*) >= 30
        AND percentile_disc(0.9) WITHIN GROUP (ORDER BY x.request_time_ns - x.answered_ns)
            - percentile_disc(0.1) WITHIN GROUP (ORDER BY x.request_time_ns - x.answered_ns)
            <= 2 * (
                percentile_disc(0.9) WITHIN GROUP (ORDER BY x.request_time_ns - x.earlier_ns)
                - percentile_disc(0.1) WITHIN GROUP (ORDER BY x.request_time_ns - x.earlier_ns)
            )
)
SELECT
    who,
    client_address,
    broker,
    connection,
    round_trip_ns,
    requests,
    CAST(NULL AS STRING) AS unread,
    'latency' AS verb,
    least(way_ns / nullif(life_ns, 0), 1e0) AS way_share,
    CASE WHEN way_ns / 4 >= life_ns / 5 THEN 'medium' ELSE 'info' END AS severity,
    CAST(least(way_ns, 9e18) AS BIGINT) AS weight,
    evidence_slowest,
    first_time_ns,
    last_time_ns
FROM waits
WHERE way_ns >= life_ns / 4
UNION ALL
SELECT
    client_address AS who,
    client_address,
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    connection,
    rtt_ns AS round_trip_ns,
    client_data_packets AS requests,
    'judged by sizes and times, as it is TLS without keys' AS unread,
    'connections' AS verb,
    least(CAST(client_data_packets AS DOUBLE) * rtt_ns / (last_time_ns - first_time_ns), 1e0) AS way_share,
    'medium' AS severity,
    CAST(least(CAST(client_data_packets AS DOUBLE) * rtt_ns, 9e18) AS BIGINT) AS weight,
    CAST(NULL AS BIGINT) AS evidence_slowest,
    first_time_ns,
    last_time_ns
FROM tls_unread
WHERE rtt_ns >= ms(20) AND one_way IS NULL AND broker_port <> 443 AND client_data_packets >= 60
    AND client_data_packets BETWEEN broker_data_packets - broker_data_packets / 10 AND broker_data_packets + broker_data_packets / 10
    AND client_stream_bytes > broker_stream_bytes AND client_retransmitted + broker_retransmitted < client_data_packets / 50
    AND client_data_packets * (rtt_ns / 1000) * 5 >= (last_time_ns - first_time_ns) / 1000 * 4
    AND client_data_packets * (rtt_ns / 1000) <= (last_time_ns - first_time_ns) / 1000 + rtt_ns / 200
