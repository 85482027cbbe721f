-- severity: medium
-- rank: 7
-- when: connections having bool_or(is_kafka IS NOT TRUE AND protocol IS NOT NULL) AND bool_or(is_kafka OR tls) OR bool_or(is_kafka AND tls AND tls_decrypted IS NOT TRUE)
-- says: {client_address}[ ({client_id})] speaks {spoken} to {broker}, which expects {expected}: {times|connection|connections} failed
-- do: {advice}
-- look: kanalyze connections --client {client_address}
-- explains: connection_storm, unanswered, tls_failed
-- What a port speaks is known from the connections on which its broker answered, and from a TLS alert behind a plain request.
WITH ports AS (
    SELECT
        broker_address,
        broker_port,
        bool_or(is_kafka AND tls IS NOT TRUE AND replies > 0) AS plain,
        bool_or(tls AND broker_stream_bytes > 1000) AS encrypted
    FROM all_connections
    GROUP BY broker_address, broker_port
),
foreign_ones AS (
    SELECT
        c.client_address,
        c.broker_address,
        c.broker_port,
        c.connection,
        c.first_time_ns,
        c.last_time_ns,
        max(x.client_id) AS client_id,
        CASE
            WHEN c.requests > 0 THEN 'plaintext Kafka'
            WHEN c.tls OR c.protocol = 'tls' THEN 'TLS'
            ELSE 'another protocol'
        END AS spoken,
        CASE WHEN p.plain THEN 'plaintext Kafka' ELSE 'TLS' END AS expected
    FROM connections AS c
    JOIN ports AS p ON p.broker_address = c.broker_address AND p.broker_port = c.broker_port
    LEFT JOIN exchanges AS x ON x.connection = c.connection
    WHERE c.seen_from = 'syn' AND c.client_stream_bytes > 0 AND (
        (p.plain AND NOT p.encrypted AND c.is_kafka IS NOT TRUE AND c.protocol IS NOT NULL AND c.broker_stream_bytes = 0)
        OR ((p.encrypted OR c.tls) AND NOT p.plain AND c.requests > 0 AND c.replies = 0 AND c.tls_decrypted IS NOT TRUE)
    )
    GROUP BY
        c.client_address, c.broker_address, c.broker_port, c.connection, c.first_time_ns, c.last_time_ns, c.requests, c.tls,
        c.protocol, p.plain
)
SELECT
    client_address,
    coalesce(max(client_id), client_address) AS who,
    max(client_id) AS client_id,
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    spoken,
    expected,
    CASE
        WHEN spoken = 'TLS' THEN 'Set security.protocol of this client to PLAINTEXT or SASL_PLAINTEXT, or connect it to a port with TLS.'
        WHEN expected = 'TLS' THEN 'Set security.protocol of this client to SSL or SASL_SSL, or connect it to a port without TLS.'
        ELSE 'It is a health check, a scanner, or a client with a wrong port: correct the port or the protocol.'
    END AS advice,
    count(*) AS times,
    count(*) AS weight,
    min_by(connection, (first_time_ns, connection)) AS connection,
    min(first_time_ns) AS first_time_ns,
    max(last_time_ns) AS last_time_ns
FROM foreign_ones
GROUP BY client_address, broker_address, broker_port, spoken, expected
