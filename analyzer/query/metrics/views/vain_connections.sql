-- Whose connections came to nothing? One row per host and broker.
-- Connections that were accepted and ended, five or more of a host and broker. Of TLS that finished its handshake and was not decrypted
-- nothing is known; of anything else than Kafka it is told where a broker must be: other connections to the address speak Kafka, or
-- Metadata names the address, or its port behind a name. That a broker is behind port 9092, 9093 or 9094 is a guess, which is said
-- (`guess`); what sends anything there is another service. Connections without a byte of the client are health checks, and so is a
-- PROXY header alone; but not where the other side ended one without any, within half a minute: a broker waits for longer. Medium
-- where it so ended each of them, for 10 s.
WITH places AS (
    SELECT broker_address AS address, broker_port AS port FROM all_connections WHERE is_kafka
    UNION
    -- The address of a name is not known.
    SELECT CASE WHEN NOT is_name(host) THEN host END, port FROM all_brokers
),
expected AS (
    SELECT c.connection
    FROM connections AS c JOIN places AS p ON p.port = c.broker_port AND coalesce(p.address, c.broker_address) = c.broker_address
    GROUP BY c.connection
),
-- Who asks for no reply (acks=0) misses none.
quiet AS (
    SELECT connection FROM totals GROUP BY connection HAVING bool_and(status = 'no_reply_expected')
),
judged AS (
    SELECT
        c.connection,
        c.client_address,
        c.broker_address,
        c.broker_port,
        c.first_time_ns,
        c.closed_by,
        e.connection IS NULL AS is_guess,
        c.client_stream_bytes > coalesce(c.client_opening_bytes, 0) AS has_written,
        c.seen_from = 'syn' AND c.syn_ack_ns IS NOT NULL AND c.close <> 'none' AND c.replies = 0 AND c.one_way IS NULL
        AND c.broker_gaps + c.client_gaps = 0 AND (
            c.client_stream_bytes > coalesce(c.client_opening_bytes, 0)
            OR (c.closed_by = 'broker' AND c.client_stream_bytes + c.broker_stream_bytes = 0 AND c.last_time_ns - c.first_time_ns < s(30))
        )
        AND (c.tls IS NOT TRUE OR c.tls_decrypted OR c.tls_handshake = 'failed')
        AND c.connection NOT IN (SELECT connection FROM quiet) AS is_vain
    FROM connections AS c LEFT JOIN expected AS e ON e.connection = c.connection
    WHERE is_client(c.role) AND (e.connection IS NOT NULL OR (c.broker_port BETWEEN 9092 AND 9094 AND c.broker_stream_bytes = 0))
),
names AS (
    SELECT client_address, CASE WHEN min(client_id) = max(client_id) THEN min(client_id) END AS who
    FROM totals
    GROUP BY client_address
)
SELECT
    j.client_address,
    n.who,
    j.broker_address || ':' || CAST(j.broker_port AS STRING) AS broker,
    count(*) FILTER (WHERE j.is_vain) AS times,
    count(*) AS connections,
    nullif(count(*) FILTER (WHERE j.is_vain AND j.closed_by = 'broker'), 0) AS by_broker,
    nullif(count(*) FILTER (WHERE j.is_vain AND j.has_written), 0) AS written,
    CASE WHEN bool_or(j.is_guess) THEN 'port ' || CAST(j.broker_port AS STRING) END AS guess,
    CASE WHEN bool_and(j.is_vain AND j.closed_by = 'broker' AND NOT j.is_guess) AND max(j.first_time_ns) - min(j.first_time_ns) >= impact('stuck_ns')
        THEN 'medium' END AS severity,
    count(*) FILTER (WHERE j.is_vain) AS weight,
    min_by(j.connection, (j.first_time_ns, j.connection)) FILTER (WHERE j.is_vain) AS connection,
    min(j.first_time_ns) FILTER (WHERE j.is_vain) AS first_time_ns,
    max(j.first_time_ns) FILTER (WHERE j.is_vain) AS last_time_ns
FROM judged AS j LEFT JOIN names AS n ON n.client_address = j.client_address
GROUP BY j.client_address, n.who, j.broker_address, j.broker_port
HAVING count(*) FILTER (WHERE j.is_vain) >= impact('refusals')
