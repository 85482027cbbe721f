-- Clients that do not speak what a port expects, one row a client and port.
-- What a port speaks is known from the connections on which its broker answered, from a TLS alert behind a plain request, and from
-- ILLEGAL_SASL_STATE, which a broker answers to a login where its listener has none. A port that only ever closes tells less:
-- behind a ClientHello, or behind the first request after ApiVersions, the sentence says what such a port does, and wants more
-- connections.
WITH ports AS (
    SELECT
        broker_address,
        broker_port,
        bool_or(is_kafka AND tls IS NOT TRUE AND replies > 0) AS plain,
        bool_or(tls AND broker_stream_bytes > 1000) AS encrypted,
        bool_or(broker_stream_bytes > 0) AS answers,
        bool_or(sasl_mechanism IS NOT NULL AND principal IS NOT NULL) AS sasl
    FROM all_connections
    GROUP BY broker_address, broker_port
),
asked AS (
    SELECT
        connection,
        max(client_id) AS client_id,
        bool_or(api_key NOT IN (api('SaslHandshake', 'ApiVersions', 'SaslAuthenticate')) AND status = 'answered') AS served,
        bool_or(api_key NOT IN (api('SaslHandshake', 'ApiVersions', 'SaslAuthenticate')) AND status = 'closed') AS cut_off,
        max(request_time_ns) AS last_asked_ns
    FROM exchanges
    GROUP BY connection
),
refused AS (
    SELECT connection, bool_or(outcome = 'failed' AND error_code = error('ILLEGAL_SASL_STATE'))
        AND NOT bool_or(outcome = 'ok') AS no_logins
    FROM logins
    GROUP BY connection
),
judged AS (
    SELECT
        c.*,
        a.client_id,
        p.sasl,
        bool_or(a.served AND c.sasl_mechanism IS NULL) OVER (PARTITION BY c.broker_address, c.broker_port) AS open_to_all,
        p.plain,
        p.encrypted,
        CASE
            WHEN p.plain AND NOT p.encrypted AND c.is_kafka IS NOT TRUE AND c.protocol IS NOT NULL AND c.broker_stream_bytes = 0
                THEN 'not_kafka'
            WHEN (p.encrypted OR c.tls) AND NOT p.plain AND c.requests > 0 AND c.replies = 0 AND c.tls_decrypted IS NOT TRUE
                THEN 'no_tls'
            -- A TLS port answers what is no TLS with an alert (7 bytes), or not at all.
            WHEN p.encrypted AND NOT p.plain AND c.is_kafka IS NOT TRUE AND c.protocol = 'other' AND c.broker_stream_bytes <= 7
                AND c.broker_port <> 443 THEN 'no_tls'
            WHEN c.tls_handshake = 'failed' AND NOT p.answers AND c.broker_packets > 0 AND c.one_way IS NULL
                THEN 'silent_to_tls'
            WHEN r.no_logins THEN 'login'
            -- Not where the client closes, in the middle of a reply say, nor where the request was taken and waited.
            WHEN c.replies = 1 AND c.sasl_mechanism IS NULL AND a.cut_off AND NOT a.served AND c.closed_by IS DISTINCT FROM 'client'
                AND coalesce(c.close_time_ns - a.last_asked_ns < s(5), true) THEN 'no_login'
        END AS kind
    FROM connections AS c
    JOIN ports AS p ON p.broker_address = c.broker_address AND p.broker_port = c.broker_port
    LEFT JOIN asked AS a ON a.connection = c.connection
    LEFT JOIN refused AS r ON r.connection = c.connection
    WHERE c.seen_from = 'syn' AND c.client_stream_bytes > 0
),
foreign_ones AS (
    SELECT
        *,
        CASE
            WHEN kind = 'no_login' THEN 'Kafka without a login (SASL)'
            WHEN kind = 'login' THEN 'Kafka with a login (SASL)'
            WHEN requests > 0 THEN 'plaintext Kafka'
            WHEN tls OR protocol = 'tls' THEN 'TLS'
            ELSE 'another protocol'
        END AS spoken,
        CASE
            WHEN kind = 'no_login' AND sasl THEN 'expects a login'
            WHEN kind = 'no_login' THEN 'closes after ApiVersions, as a port that expects a login does'
            WHEN kind = 'login' THEN 'has no logins'
            WHEN kind = 'silent_to_tls' AND broker_port = 443
                THEN 'closes without a reply, as a proxy does that knows no such server name (SNI)'
            WHEN kind = 'silent_to_tls' THEN 'closes without a reply, as a port without TLS does'
            WHEN plain THEN 'expects plaintext Kafka'
            ELSE 'expects TLS'
        END AS expected
    FROM judged
    WHERE kind IS NOT NULL AND (kind <> 'no_login' OR open_to_all IS NOT TRUE)
)
SELECT
    client_address,
    coalesce(max(client_id), client_address) AS who,
    max(client_id) AS client_id,
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    spoken,
    expected,
    CASE
        WHEN kind = 'no_login' AND expected <> 'expects a login' THEN 'Set security.protocol of this client to SASL_PLAINTEXT (SASL_SSL over TLS) with its credentials, or connect it to a port without logins. Where no login is wanted there, what answers ApiVersions is a proxy that offers more than the broker behind it takes.'
        WHEN kind = 'no_login' THEN 'Set security.protocol of this client to SASL_PLAINTEXT (SASL_SSL over TLS) with its credentials, or connect it to a port without logins.'
        WHEN kind = 'login' THEN 'Set security.protocol of this client to PLAINTEXT (SSL over TLS), or connect it to a port with SASL.'
        WHEN kind = 'silent_to_tls' AND broker_port = 443
            THEN 'A proxy that leads by server name (SNI), as a route or an ingress, closes so where the client names none or one that it does not know: use a library that sends SNI and the name that the route has; or nothing there speaks TLS.'
        WHEN spoken = 'TLS' THEN 'Set security.protocol of this client to PLAINTEXT or SASL_PLAINTEXT, or connect it to a port with TLS.'
        WHEN expected = 'expects TLS' AND spoken = 'plaintext Kafka' THEN 'Set security.protocol of this client to SSL or SASL_SSL, or connect it to a port without TLS.'
        ELSE 'It is a health check, a scanner, or a client with a wrong port: correct the port or the protocol.'
    END AS advice,
    CASE WHEN kind = 'login' AND count(*) >= 3 THEN 'high' END AS severity,
    count(*) AS times,
    count(*) AS weight,
    min_by(connection, (first_time_ns, connection)) AS connection,
    min(first_time_ns) AS first_time_ns,
    max(last_time_ns) AS last_time_ns
FROM foreign_ones
GROUP BY client_address, broker_address, broker_port, kind, spoken, expected
HAVING count(*) >= CASE WHEN kind = 'silent_to_tls' THEN 3 WHEN kind = 'no_login' AND expected = 'expects a login' THEN 3 WHEN kind = 'no_login' THEN 5 ELSE 1 END
