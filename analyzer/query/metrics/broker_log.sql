-- How do the brokers' own logs (--request-log) split the time of requests? One row for each API, kind and broker, the costliest first:
-- requests with a line of a log, percentiles of the log's total time (exact), and the sums of its parts, ns; `slow_` of the slowest
-- 1 %, one request at least. A part that is null in a line counts as 0.
WITH logged AS (
    SELECT
        *,
        percent_rank() OVER (
            PARTITION BY api_name, kind, broker_address, broker_port ORDER BY log_total_ns DESC, exchange
        ) AS place
    FROM exchanges
    WHERE log_total_ns IS NOT NULL
)
SELECT
    api_name,
    kind,
    max(broker_id) AS broker_id,
    broker_address,
    broker_port,
    count(*) AS requests,
    CAST(percentile_disc(0.5) WITHIN GROUP (ORDER BY log_total_ns) AS BIGINT) AS p50_ns,
    CAST(percentile_disc(0.99) WITHIN GROUP (ORDER BY log_total_ns) AS BIGINT) AS p99_ns,
    max(log_total_ns) AS max_ns,
    TRY_CAST(sum(log_total_ns) AS BIGINT) AS total_ns,
    TRY_CAST(coalesce(sum(log_queue_ns), 0) AS BIGINT) AS log_queue_ns,
    TRY_CAST(coalesce(sum(log_local_ns), 0) AS BIGINT) AS log_local_ns,
    TRY_CAST(coalesce(sum(log_remote_ns), 0) AS BIGINT) AS log_remote_ns,
    TRY_CAST(coalesce(sum(log_response_queue_ns), 0) AS BIGINT) AS log_response_queue_ns,
    TRY_CAST(coalesce(sum(log_send_ns), 0) AS BIGINT) AS log_send_ns,
    TRY_CAST(coalesce(sum(log_queue_ns) FILTER (WHERE place <= 0.01), 0) AS BIGINT) AS slow_queue_ns,
    TRY_CAST(coalesce(sum(log_local_ns) FILTER (WHERE place <= 0.01), 0) AS BIGINT) AS slow_local_ns,
    TRY_CAST(coalesce(sum(log_remote_ns) FILTER (WHERE place <= 0.01), 0) AS BIGINT) AS slow_remote_ns,
    TRY_CAST(coalesce(sum(log_response_queue_ns) FILTER (WHERE place <= 0.01), 0) AS BIGINT) AS slow_response_queue_ns,
    TRY_CAST(coalesce(sum(log_send_ns) FILTER (WHERE place <= 0.01), 0) AS BIGINT) AS slow_send_ns
FROM logged
GROUP BY api_name, kind, broker_address, broker_port
ORDER BY total_ns DESC, api_name, kind, broker_address, broker_port
