-- Requests of the capture to brokers whose log of requests was given, as the log names them: ends of the connection, API,
-- correlation id; a row for each leg of what a proxy carried on. `to_ns`: the broker has begun by then.
WITH logged AS (SELECT DISTINCT broker_address, broker_port FROM raw_log_requests)
SELECT
    x.exchange,
    c.connection,
    c.broker_address,
    c.broker_port,
    c.client_address,
    c.client_port,
    x.api_key,
    x.correlation_id,
    x.status,
    coalesce(x.request_end_ns, x.request_time_ns) AS asked_ns,
    x.response_time_ns AS answered_ns,
    coalesce(x.response_end_ns, x.response_time_ns) AS ended_ns,
    -- Without a reply in the capture nobody knows: few queues of brokers are so long.
    coalesce(x.response_time_ns, least(coalesce(x.request_end_ns, x.request_time_ns), max_bigint() - days(1)) + s(10)) AS to_ns
FROM raw_exchanges AS x
JOIN connection_context AS c ON c.part = x.part
JOIN logged AS l ON l.broker_address = c.broker_address AND l.broker_port = c.broker_port
WHERE c.is_kafka AND x.api_key IS NOT NULL AND x.request_time_ns IS NOT NULL
