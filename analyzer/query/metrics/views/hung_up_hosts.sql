-- On which hosts do brokers hang up at once, though they serve others of their connections? One row per host and
-- broker: `times` ended without a byte of the broker, `served` went on.
-- Accepted, and ended within a second without a byte from the broker, which had been sent an ApiVersions request at most: that one is
-- answered whatever its version. Protocol and port are right, as connections of the same host to the same port are served
-- meanwhile, TLS or plain as these are.
WITH ended AS (
    SELECT connection, client_address, broker_address, broker_port, coalesce(tls, false) AS tls, first_time_ns
    FROM connections
    WHERE seen_from = 'syn' AND syn_ack_ns IS NOT NULL AND broker_stream_bytes = 0 AND close <> 'none' AND requests <= 1
        AND one_way IS NULL AND last_time_ns - first_time_ns < s(1) AND client_stream_bytes > coalesce(client_opening_bytes, 0)
        AND is_client(role)
),
hosts AS (
    SELECT
        client_address,
        broker_address,
        broker_port,
        tls,
        count(*) AS times,
        min(first_time_ns) AS first_time_ns,
        max(first_time_ns) AS last_time_ns
    FROM ended
    GROUP BY client_address, broker_address, broker_port, tls
    HAVING count(*) >= 5
),
served AS (
    SELECT h.client_address, h.broker_address, h.broker_port, h.tls, count(*) AS served
    FROM hosts AS h
    JOIN connections AS c
        ON c.client_address = h.client_address AND c.broker_address = h.broker_address AND c.broker_port = h.broker_port
        AND coalesce(c.tls, false) = h.tls
    WHERE c.broker_stream_bytes > 0
        AND least(c.last_time_ns, h.last_time_ns) - greatest(c.first_time_ns, h.first_time_ns) >= (h.last_time_ns - h.first_time_ns) / 2
    GROUP BY h.client_address, h.broker_address, h.broker_port, h.tls
),
asked AS (
    SELECT
        e.client_address,
        e.broker_address,
        e.broker_port,
        e.tls,
        min(x.client_id) AS who,
        min(x.exchange) AS exchange,
        count(*) FILTER (WHERE x.api_key <> api('ApiVersions')) AS others
    FROM ended AS e JOIN exchanges AS x ON x.connection = e.connection
    GROUP BY e.client_address, e.broker_address, e.broker_port, e.tls
)
SELECT
    h.broker_address || ':' || CAST(h.broker_port AS STRING) AS broker,
    h.client_address,
    a.who,
    h.times,
    s.served,
    h.times AS weight,
    a.exchange AS evidence_first,
    h.first_time_ns,
    h.last_time_ns
FROM hosts AS h
JOIN served AS s
    ON s.client_address = h.client_address AND s.broker_address = h.broker_address AND s.broker_port = h.broker_port AND s.tls = h.tls
LEFT JOIN asked AS a
    ON a.client_address = h.client_address AND a.broker_address = h.broker_address AND a.broker_port = h.broker_port AND a.tls = h.tls
WHERE coalesce(a.others, 0) = 0
