-- Clients whose connections the other end closes at their first request: one row a client and broker.
-- The other end closes within a second of the first request and nothing was ever answered, on three connections or more. Where the
-- port is known to speak something else (`wrong_protocols`), that is told instead. Where it serves this host meanwhile, a reset is
-- `connection_limit`, and a FIN says that the request was read: a kernel resets what is closed with unread bytes. Where it is
-- ApiVersions that ends connections, and those that are served begin without it, the client has found out: that is for information.
WITH ended AS (
    SELECT c.connection, c.client_address, c.broker_address, c.broker_port, c.close, c.first_time_ns, c.last_time_ns, c.close_time_ns, c.opening
    FROM connections AS c
    WHERE c.is_kafka AND c.closed_by = 'broker' AND c.requests > 0 AND c.broker_stream_bytes = 0 AND c.seen_from = 'syn'
        AND c.broker_gaps = 0 AND is_client(c.role)
),
asked AS (
    SELECT
        e.*,
        min(who(x)) AS who,
        min_by(x.api_name, (x.request_time_ns, x.exchange)) AS api_name,
        min_by(x.exchange, (x.request_time_ns, x.exchange)) AS exchange,
        e.close_time_ns - min(coalesce(x.request_end_ns, x.request_time_ns)) AS after_ns
    FROM ended AS e JOIN exchanges AS x ON x.connection = e.connection
    GROUP BY
        e.connection, e.client_address, e.broker_address, e.broker_port, e.close, e.first_time_ns, e.last_time_ns, e.close_time_ns,
        e.opening
),
hosts AS (
    SELECT
        client_address,
        broker_address,
        broker_port,
        broker_address || ':' || CAST(broker_port AS STRING) AS broker,
        who,
        CASE WHEN min(api_name) = max(api_name) THEN min(api_name) ELSE 'of several kinds' END AS api_name,
        CASE WHEN min(close) = 'rst' THEN 'resets' WHEN max(close) = 'fin' THEN 'closes' ELSE 'closes or resets' END AS ends,
        max(after_ns) AS after_ns,
        count(*) AS times,
        CASE WHEN min(opening) LIKE 'proxy_%' AND count(opening) = count(*) THEN 'PROXY header' END AS header,
        min_by(exchange, (first_time_ns, connection)) AS evidence_first,
        min_by(connection, (first_time_ns, connection)) AS connection,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM asked
    WHERE after_ns BETWEEN 0 AND s(1)
    GROUP BY client_address, broker_address, broker_port, who
    HAVING count(*) >= 3
),
meanwhile AS (
    SELECT
        h.client_address,
        h.broker_address,
        h.broker_port,
        h.who,
        h.api_name = 'ApiVersions' AND h.ends = 'closes' AND count(r.connection) = count(*) AND max(r.hello_requests) = 0 AS goes_without
    FROM hosts AS h JOIN connections AS c
        ON c.client_address = h.client_address AND c.broker_address = h.broker_address AND c.broker_port = h.broker_port
    LEFT JOIN connection_requests AS r ON r.connection = c.connection
    WHERE c.broker_stream_bytes > 0 AND c.first_time_ns <= h.last_time_ns AND c.last_time_ns >= h.first_time_ns
    GROUP BY h.client_address, h.broker_address, h.broker_port, h.who, h.api_name, h.ends
)
SELECT
    h.broker,
    h.client_address,
    h.who,
    h.api_name,
    h.ends,
    h.after_ns,
    h.times,
    h.header,
    CASE
        WHEN m.goes_without THEN 'This broker (or a proxy before it) does not know ApiVersions, as Kafka before 0.10, and the client comes back without it, which costs it a connection each time: tell it which version the brokers have (librdkafka: api.version.request=false, broker.version.fallback), or upgrade them.'
        WHEN m.broker_address IS NOT NULL
        THEN 'The broker had read these requests, as it ended the connections without a reset, and it serves other connections of this host: it cannot read them, or fails at them. Its log has an error at that time. Compare these requests with one that was answered (`kanalyze show`).'
        WHEN o.connection IS NULL AND h.header IS NOT NULL
            THEN 'A load balancer or proxy in front of this broker writes a PROXY header before the first request, and the broker takes it for a request of absurd length: turn the PROXY protocol off there (a target group, send-proxy), as Apache Kafka does not know it.'
        WHEN o.connection IS NULL AND h.broker_port = 2181
            THEN 'Port 2181 is where ZooKeeper listens, which speaks another protocol: name the brokers and their port in bootstrap.servers of this client.'
        WHEN o.connection IS NULL
        THEN 'Who accepts the connection does not take Kafka: look what listens at this address (a forwarded port or proxy with nothing behind it, a proxy that is older than this client, a port with TLS, a filter of addresses).'
        ELSE 'Others are served at this address: look at the log of the broker at that time, and at what is kept for this host alone (a limit, a filter of addresses, a proxy on its way).'
    END AS advice,
    CASE WHEN m.goes_without THEN 'info' END AS severity,
    h.times AS weight,
    h.evidence_first,
    h.connection,
    h.first_time_ns,
    h.last_time_ns
FROM hosts AS h
LEFT JOIN meanwhile AS m
    ON m.client_address = h.client_address AND m.broker_address = h.broker_address AND m.broker_port = h.broker_port AND m.who = h.who
LEFT JOIN (
    SELECT broker_address, broker_port, min(connection) AS connection
    FROM connections
    WHERE is_kafka AND replies > 0
    GROUP BY broker_address, broker_port
) AS o ON o.broker_address = h.broker_address AND o.broker_port = h.broker_port
WHERE NOT EXISTS (SELECT 1 FROM wrong_protocols AS w WHERE w.client_address = h.client_address AND w.broker = h.broker)
    AND (m.broker_address IS NULL OR h.ends = 'closes')
