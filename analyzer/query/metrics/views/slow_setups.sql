-- Who waits long until a connection is ready? One row per client and broker.
-- What a client waits for before its first request is served: an answer to its SYN, to ApiVersions, and to each step of its login; also
-- where there was none until the connection ended, or its last packet. What comes behind its first other request, as logins anew do, delays no
-- beginning.
WITH steps AS (
    SELECT
        x.connection,
        who(x) AS who,
        x.exchange,
        x.request_time_ns,
        x.api_key,
        coalesce(x.latency_ns, CASE WHEN x.status IN ('pending', 'closed', 'abandoned')
            THEN wait_end_ns(c, x) - coalesce(x.request_end_ns, x.request_time_ns) END) AS waited_ns
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_key IN (api('ApiVersions', 'SaslHandshake', 'SaslAuthenticate')) AND is_client(x.role)
),
served AS (
    SELECT x.connection, min(x.request_time_ns) AS first_ns
    FROM exchanges AS x JOIN (SELECT connection FROM steps GROUP BY connection) AS s ON s.connection = x.connection
    WHERE x.api_key NOT IN (api('ApiVersions', 'SaslHandshake', 'SaslAuthenticate'))
    GROUP BY x.connection
),
by_connection AS (
    SELECT
        s.connection,
        min(s.who) AS who,
        sum(s.waited_ns) FILTER (WHERE s.api_key = api('ApiVersions')) AS hello_ns,
        sum(s.waited_ns) FILTER (WHERE s.api_key <> api('ApiVersions')) AS login_ns,
        max_by(s.exchange, (s.waited_ns, s.exchange)) AS exchange
    FROM steps AS s LEFT JOIN served AS f ON f.connection = s.connection
    WHERE f.first_ns IS NULL OR s.request_time_ns < f.first_ns
    GROUP BY s.connection
),
waits AS (
    SELECT
        c.connection,
        c.client_address,
        c.broker_address,
        c.broker_port,
        c.first_time_ns,
        coalesce(b.who, c.client_address) AS who,
        b.exchange,
        coalesce(c.syn_ack_ns, 0) AS syn_ns,
        coalesce(b.hello_ns, 0) AS hello_ns,
        coalesce(b.login_ns, 0) AS login_ns
    FROM connections AS c LEFT JOIN by_connection AS b ON b.connection = c.connection
    WHERE c.is_kafka AND is_client(c.role)
        AND coalesce(b.hello_ns, 0) + coalesce(b.login_ns, 0) + coalesce(c.syn_ack_ns, 0) >= impact('setup_ns')
)
SELECT
    who,
    client_address,
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    count(*) AS times,
    CASE
        WHEN sum(login_ns) >= greatest(sum(hello_ns), sum(syn_ns)) THEN 'its login'
        WHEN sum(hello_ns) >= sum(syn_ns) THEN 'the first reply (ApiVersions)'
        ELSE 'a connection'
    END AS what,
    CAST(impact('setup_ns') AS BIGINT) AS limit_ns,
    TRY_CAST(max(hello_ns + login_ns + syn_ns) AS BIGINT) AS longest_ns,
    CASE WHEN count(*) > 1 THEN TRY_CAST(sum(hello_ns + login_ns + syn_ns) AS BIGINT) END AS waited_ns,
    count(*) AS weight,
    max_by(connection, (hello_ns + login_ns + syn_ns, connection)) AS connection,
    max_by(exchange, (hello_ns + login_ns + syn_ns, connection)) AS evidence_slowest,
    min(first_time_ns) AS first_time_ns,
    TRY_CAST(max(hello_ns + login_ns + syn_ns + first_time_ns) AS BIGINT) AS last_time_ns
FROM waits
GROUP BY who, client_address, broker_address, broker_port
