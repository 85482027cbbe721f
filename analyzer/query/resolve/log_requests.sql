-- Lines of the brokers' logs of requests, with the exchange that each is, or why it is none.
WITH spans AS (
    SELECT min(first_time_ns) AS first_ns, max(last_time_ns) AS last_ns FROM captures
),
-- Of the connections with these ends, whether one was read.
ends AS (
    SELECT
        broker_address,
        broker_port,
        client_address,
        client_port,
        bool_or(is_kafka) AS is_kafka,
        bool_or(may_be_kafka) AS is_encrypted
    FROM connection_context
    GROUP BY broker_address, broker_port, client_address, client_port
),
numbers AS (
    SELECT DISTINCT broker_address, broker_port, client_address, client_port, api_key, correlation_id FROM log_exchanges
)
SELECT
    CAST(r.log AS INTEGER) AS log,
    r.line,
    CASE
        WHEN p.exchange IS NOT NULL THEN 'joined'
        WHEN r.is_forwarded THEN 'forwarded'
        WHEN e.broker_address IS NULL THEN 'no_connection'
        WHEN m.end_ns < s.first_ns OR m.begin_ns > s.last_ns THEN 'outside'
        WHEN e.is_kafka IS NOT TRUE THEN CASE WHEN e.is_encrypted THEN 'encrypted' ELSE 'unread' END
        WHEN m.begin_ns IS NULL THEN 'no_clock'
        WHEN n.broker_address IS NOT NULL THEN 'ambiguous'
        ELSE 'not_captured'
    END AS outcome,
    p.exchange,
    p.connection,
    m.end_ns AS time_ns,
    m.begin_ns,
    r.logged_ns AS logged_time_ns,
    r.broker_address,
    r.broker_port,
    r.client_address,
    r.client_port,
    r.api_key,
    r.api_name,
    r.api_version,
    r.correlation_id,
    r.client_id,
    r.topic,
    r.principal,
    r.listener,
    r.security_protocol,
    r.is_forwarded,
    r.total_ns,
    r.queue_ns,
    r.local_ns,
    r.remote_ns,
    r.throttle_ns,
    r.response_queue_ns,
    r.send_ns
FROM raw_log_requests AS r
CROSS JOIN spans AS s
JOIN log_moments AS m ON m.log = r.log AND m.line = r.line
LEFT JOIN log_pairs AS p ON p.log = r.log AND p.line = r.line
LEFT JOIN ends AS e
    ON e.broker_address = r.broker_address
    AND e.broker_port = r.broker_port
    AND e.client_address = r.client_address
    AND e.client_port = r.client_port
LEFT JOIN numbers AS n
    ON n.broker_address = r.broker_address
    AND n.broker_port = r.broker_port
    AND n.client_address = r.client_address
    AND n.client_port = r.client_port
    AND n.api_key = r.api_key
    AND n.correlation_id = r.correlation_id
