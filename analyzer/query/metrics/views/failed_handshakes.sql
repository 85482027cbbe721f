-- TLS handshakes that fail, one row a broker, client (null: several) and end.
-- Three handshakes at least that ended before any content; for information one that a fatal alert in clear ended, as some clients give
-- up after it. In TLS 1.3 alerts are encrypted; who sent one is seen all the same. Hosts whose handshakes with one broker end alike
-- are one finding: the certificate of the broker, most often. A connection that ends without an alert may be a client that gave up: it
-- is told only where the host finishes no handshake with this broker afterwards.
WITH finished AS (
    SELECT client_address, broker_address, broker_port, max(first_time_ns) AS last_ns
    FROM connections
    WHERE tls_handshake = 'finished'
    GROUP BY client_address, broker_address, broker_port
),
failed AS (
    SELECT c.*
    FROM connections AS c
    LEFT JOIN finished AS f
        ON f.client_address = c.client_address AND f.broker_address = c.broker_address AND f.broker_port = c.broker_port
    WHERE c.tls_handshake = 'failed' AND (c.tls_alert IS NOT NULL OR coalesce(c.first_time_ns > f.last_ns, true))
),
counted AS (
    SELECT
        client_address,
        broker_address || ':' || CAST(broker_port AS STRING) AS broker,
        count(*) AS times,
        max(CASE WHEN tls_alert <> 'encrypted' THEN tls_alert END) AS alert,
        max(CASE WHEN tls_alert <> 'encrypted' THEN tls_alert_from END) AS sender,
        max(CASE WHEN tls_alert = 'encrypted' THEN tls_alert_from END) AS hidden_from,
        max(tls_certificate) AS certificate,
        max(tls_valid_until_ns) AS until_date_ns,
        max(tls_valid_from_ns) AS from_time_ns,
        max(broker_stream_bytes) AS answered_bytes,
        min_by(connection, (first_time_ns, connection)) AS connection,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM failed
    GROUP BY client_address, broker_address, broker_port
    HAVING count(*) >= 3 OR max(CASE WHEN tls_alert <> 'encrypted' THEN tls_alert END) IS NOT NULL
),
alike AS (
    SELECT
        CASE WHEN count(*) = 1 THEN max(client_address) END AS client_address,
        min_by(client_address, (first_time_ns, client_address)) AS from_address,
        nullif(count(*) - 1, 0) AS others,
        broker,
        CAST(sum(times) AS BIGINT) AS times,
        alert,
        sender,
        hidden_from,
        max(certificate) AS certificate,
        max(until_date_ns) AS until_date_ns,
        max(from_time_ns) AS from_time_ns,
        max(answered_bytes) AS answered_bytes,
        min_by(connection, (first_time_ns, connection)) AS connection,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM counted
    GROUP BY broker, alert, sender, hidden_from, answered_bytes = 0, times >= 3
)
SELECT
    client_address,
    from_address,
    others,
    broker,
    times,
    alert,
    sender,
    CASE WHEN alert IS NULL THEN hidden_from END AS ended_by,
    certificate,
    until_date_ns,
    CASE WHEN answered_bytes = 0 THEN 'the broker closed the connection without a reply' END AS no_answer,
    CASE
        WHEN until_date_ns < first_time_ns OR alert = 'certificate_expired'
            THEN 'The certificate of the broker has expired: renew it and reload it on the broker.'
        WHEN from_time_ns > last_time_ns THEN 'The certificate of the broker is not valid yet: check the clocks of client and broker, or wait.'
        WHEN alert = 'protocol_version' THEN 'Client and broker share no TLS version: compare ssl.enabled.protocols of both.'
        WHEN alert = 'unknown_ca' OR (sender = 'client' AND alert IN ('certificate_unknown', 'bad_certificate')) OR (alert IS NULL AND hidden_from = 'client')
            THEN 'The client refuses the certificate of the broker: the truststore of the client (ssl.truststore.location, ssl.ca.location) must hold the CA, and the certificate must name the host that the client connects to. The log of the client says which of the two fails.'
        WHEN hidden_from = 'broker' OR sender = 'broker'
            THEN 'The broker does not accept the client: it may require a client certificate (ssl.client.auth), or other TLS versions and cipher suites (ssl.enabled.protocols, ssl.cipher.suites). The broker log has the reason.'
        WHEN answered_bytes = 0 THEN 'The listener does not speak TLS, or refuses these TLS versions: compare security.protocol of the client with the listener.'
        ELSE 'The log of the side that closed the connection has the reason.'
    END AS advice,
    CASE WHEN times >= 3 THEN 'medium' ELSE 'info' END AS severity,
    times AS weight,
    connection,
    first_time_ns,
    last_time_ns
FROM alike
