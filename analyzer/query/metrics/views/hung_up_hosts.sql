-- On which hosts do brokers hang up, at once or after a wait, though they serve others of their connections? One row per host and
-- broker: `times` ended without a byte of the broker, `served` went on.
-- Accepted, and ended within a second without a byte from the broker, which had been sent an ApiVersions request at most: that one is
-- answered whatever its version. Protocol and port are right, as connections of the same host to the same port are served
-- meanwhile, TLS or plain as these are. A broker that limits new connections a second (KIP-612) accepts, keeps one waiting without
-- reading from it, and resets it: one after the other, where a broker that ends does so with all at once. A broker that ends a
-- connection without a reset had read what was sent to it: no limit does so (`early_hangups`).
WITH ended AS (
    SELECT
        connection, client_address, broker_address, broker_port, coalesce(tls, false) AS tls, first_time_ns, last_time_ns,
        coalesce(closed_by = 'broker' AND last_time_ns - first_time_ns - 2 * coalesce(rtt_ns, syn_ack_ns) >= ms(200), false) AS is_late
    FROM connections
    WHERE seen_from = 'syn' AND syn_ack_ns IS NOT NULL AND broker_stream_bytes = 0 AND close <> 'none' AND requests <= 1
        AND one_way IS NULL AND client_stream_bytes > coalesce(client_opening_bytes, 0) AND is_client(role)
        AND (close = 'rst' OR coalesce(closed_by = 'client', true))
        AND last_time_ns - first_time_ns < CASE WHEN closed_by = 'broker' THEN s(30) ELSE s(1) END
),
hosts AS (
    SELECT
        client_address,
        broker_address,
        broker_port,
        tls,
        is_late,
        count(*) AS times,
        min(first_time_ns) AS first_time_ns,
        max(first_time_ns) AS last_time_ns
    FROM ended
    WHERE is_late OR last_time_ns - first_time_ns < s(1)
    GROUP BY client_address, broker_address, broker_port, tls, is_late
    HAVING count(*) >= 5 AND (NOT is_late OR max(last_time_ns) - min(last_time_ns) >= s(2))
),
served AS (
    SELECT h.client_address, h.broker_address, h.broker_port, h.tls, h.is_late, count(*) AS served
    FROM hosts AS h
    JOIN connections AS c
        ON c.client_address = h.client_address AND c.broker_address = h.broker_address AND c.broker_port = h.broker_port
        AND coalesce(c.tls, false) = h.tls
    WHERE c.broker_stream_bytes > 0
        AND CASE
            WHEN h.is_late THEN c.first_time_ns BETWEEN h.first_time_ns AND h.last_time_ns
            ELSE least(c.last_time_ns, h.last_time_ns) - greatest(c.first_time_ns, h.first_time_ns)
                >= (h.last_time_ns - h.first_time_ns) / 2
        END
    GROUP BY h.client_address, h.broker_address, h.broker_port, h.tls, h.is_late
    HAVING NOT h.is_late OR count(*) >= 3
),
asked AS (
    SELECT
        e.client_address,
        e.broker_address,
        e.broker_port,
        e.tls,
        e.is_late,
        min(x.client_id) AS who,
        min(x.exchange) AS exchange,
        count(*) FILTER (WHERE x.api_key <> api('ApiVersions')) AS others
    FROM ended AS e JOIN exchanges AS x ON x.connection = e.connection
    GROUP BY e.client_address, e.broker_address, e.broker_port, e.tls, e.is_late
)
SELECT
    h.broker_address || ':' || CAST(h.broker_port AS STRING) AS broker,
    h.client_address,
    a.who,
    h.times,
    s.served,
    CASE WHEN h.is_late THEN 'after a wait, without an answer,' ELSE 'at once' END AS how,
    CASE WHEN h.is_late THEN 'new connections a second' ELSE 'connections per address' END AS most,
    CASE
        WHEN h.is_late THEN 'Raise the rate for this address (kafka-configs.sh --entity-type ips, connection_creation_rate) or for the listener (max.connection.creation.rate), or let this host connect less often: one client for each process, kept open.'
        ELSE 'Raise max.connections.per.ip of the brokers (max.connections.per.ip.overrides for this host alone), or let this host open fewer connections: one client for each process.'
    END AS advice,
    h.times AS weight,
    a.exchange AS evidence_first,
    h.first_time_ns,
    h.last_time_ns
FROM hosts AS h
JOIN served AS s
    ON s.client_address = h.client_address AND s.broker_address = h.broker_address AND s.broker_port = h.broker_port AND s.tls = h.tls
        AND s.is_late = h.is_late
LEFT JOIN asked AS a
    ON a.client_address = h.client_address AND a.broker_address = h.broker_address AND a.broker_port = h.broker_port AND a.tls = h.tls
        AND a.is_late = h.is_late
WHERE coalesce(a.others, 0) = 0
