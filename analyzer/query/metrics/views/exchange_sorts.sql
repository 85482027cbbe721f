-- What the conditions of rules ask of exchanges, in one pass over all: one row for each API, wait kind, status, and whether a client asked.
-- A column that is named like one of `exchanges` is the least of it (`api_version`, `request_end_ns`) or the greatest.
SELECT
    api_key,
    kind,
    status,
    is_client(role) AS is_client,
    kind IS NULL OR kind NOT IN (SELECT kind FROM kinds WHERE reach <> 'broker') AS is_of_broker,
    count(*) AS exchanges,
    count(request_time_ns) AS timed,
    count(broker_ns) AS measured,
    count(*) FILTER (WHERE broker_ns >= ms(50) AND throttle_time_ms = 0) AS slow_in_broker,
    count(*) FILTER (WHERE latency_ns >= ms(100) AND coalesce(throttle_time_ms, 0) = 0) AS slow,
    count(*) FILTER (WHERE send_ns >= ms(100) AND request_bytes <= 14000) AS held,
    count(*) FILTER (WHERE request_bytes < 1000) AS tiny,
    count(*) FILTER (WHERE request_bytes > 500) AS wider_than_500,
    bool_or(queue_ns > 0 AND latency_ns >= ms(100)) AS is_queued,
    bool_or(request_decoded = 'malformed' OR response_decoded = 'malformed') AS is_malformed,
    min(api_version) AS api_version,
    min(request_end_ns) AS request_end_ns,
    max(latency_ns) AS latency_ns,
    sum(latency_ns) AS latencies_ns,
    count(*) FILTER (WHERE latency_ns >= ms(500)) AS long,
    sum(latency_ns) FILTER (WHERE latency_ns >= ms(500)) AS long_ns,
    bool_or(latency_ns >= (CAST(max_wait_ms AS BIGINT) + 500) * ms(1)) AS is_overdue,
    max(send_ns) AS send_ns,
    max(receive_ns) AS receive_ns,
    max(request_bytes) AS request_bytes,
    max(response_bytes) AS response_bytes
FROM exchanges
GROUP BY api_key, kind, status, is_client(role)
