-- severity: info
-- rank: 30
-- when: connections having bool_or(rtt_ns >= 20000000 OR (rtt_ns IS NULL AND to_broker_least_ns + to_client_least_ns >= 45000000))
-- says: {who} has a round trip time of {round_trip_ns} to {broker} and waits for each reply before it sends the next request: {way_share} of its time is round trips
-- do: Send more per round trip (larger batch.size, linger.ms, more requests in flight), or run the client closer to the broker.
-- look: kanalyze latency[ --client {who}] --broker {broker}
-- explains: slow_broker
-- The least round trip of the handshakes of two hosts, 20 ms or more; where no handshake is in the capture, of bytes to their ACKs
-- on both sides of it, 45 ms or more: a receiver delays an ACK for 40 ms. Requests that do not wait by design, each sent when the reply
-- before it was there and a round trip or more after the request before it, 30 at least. Wherever the capture was taken, each costs
-- its client one round trip. Medium when three quarters of the connection's life are that: one
-- that gathers records between two requests is in no hurry.
WITH far AS (
    SELECT
        client_address,
        broker_address,
        coalesce(min(rtt_ns), min(to_broker_least_ns) + min(to_client_least_ns)) AS round_trip_ns
    FROM connections
    WHERE is_kafka AND coalesce(role, 'client') = 'client'
    GROUP BY client_address, broker_address
    HAVING min(rtt_ns) >= 20000000 OR (min(rtt_ns) IS NULL AND min(to_broker_least_ns) + min(to_client_least_ns) >= 45000000)
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
        coalesce(x.client_id, x.client_address) AS who,
        x.client_address,
        x.broker_address || ':' || CAST(x.broker_port AS STRING) AS broker,
        x.round_trip_ns,
        count(*) AS requests,
        count(*) * x.round_trip_ns AS way_ns,
        max(x.response_end_ns) - min(x.request_time_ns) AS life_ns,
        max_by(x.exchange, (x.total_ns, x.exchange)) AS evidence_slowest,
        min(x.request_time_ns) AS first_time_ns,
        max(x.request_time_ns) AS last_time_ns
    FROM steps AS x
    LEFT JOIN kinds AS k ON k.kind = x.kind
    WHERE x.total_ns IS NOT NULL AND coalesce(k.reach, 'broker') = 'broker'
        AND (x.earlier_ns IS NULL OR (x.request_time_ns >= x.answered_ns AND x.request_time_ns - x.earlier_ns >= 0.9 * x.round_trip_ns))
    GROUP BY
        x.connection, coalesce(x.client_id, x.client_address), x.client_address, x.broker_address, x.broker_port,
        x.round_trip_ns
    HAVING count(*) >= 30
)
SELECT
    who,
    client_address,
    broker,
    connection,
    round_trip_ns,
    requests,
    least(CAST(way_ns AS DOUBLE) / nullif(life_ns, 0), 1e0) AS way_share,
    CASE WHEN way_ns / 3 >= life_ns / 4 THEN 'medium' ELSE 'info' END AS severity,
    CAST(way_ns AS BIGINT) AS weight,
    evidence_slowest,
    first_time_ns,
    last_time_ns
FROM waits
WHERE way_ns >= life_ns / 4
