-- Counts, percentiles and parts of a duration for each combination of the keys of `request_slices`: the one place where
-- percentiles are made, by log buckets (base/latency_buckets.py): the nearest rank to within 0.55 %; counts of parts can be added.
-- `sending_ns` is what all of them took to send. `parts_` are sums over requests whose parts are all known; `slow_` the same over the slowest 1 %, which begin at p99.
-- Times of a capture may be any: a sum beyond 292 years, the most that fits, is null.
WITH judged AS (
    SELECT c.*, coalesce(k.reach, CASE WHEN c.own_kind IS NULL THEN 'broker' ELSE 'mixed' END) AS reach
    FROM latency_counts AS c LEFT JOIN kinds AS k ON k.kind = c.own_kind
),
numbered AS (
    SELECT
        *,
        dense_rank() OVER (
            ORDER BY slot_ns, role, reach, api_name, kind, api_version, error_code, client_id, client_address, application, client_name, principal, broker_id,
                broker_address, broker_port, connection, client_port, group_id, topic, topics
        ) AS slice
    FROM judged
),
-- A window function sorts all columns that it is given, so it is given three.
running AS (
    SELECT
        slice,
        bucket,
        sum(sum(n)) OVER (PARTITION BY slice ORDER BY bucket ROWS UNBOUNDED PRECEDING) AS upto,
        sum(sum(n)) OVER (PARTITION BY slice) AS total
    FROM numbered
    WHERE n > 0
    GROUP BY slice, bucket
),
points AS (
    SELECT
        slice,
        min(CASE WHEN upto * 100 >= total * 50 THEN bucket END) AS b50,
        min(CASE WHEN upto * 100 >= total * 90 THEN bucket END) AS b90,
        min(CASE WHEN upto * 100 >= total * 95 THEN bucket END) AS b95,
        min(CASE WHEN upto * 100 >= total * 99 THEN bucket END) AS b99
    FROM running
    GROUP BY slice
),
picked AS (
    SELECT
        slot_ns, role, reach, api_name, kind, api_version, error_code, client_id, client_address, application, client_name, principal, broker_id,
        broker_address, broker_port, connection, client_port, group_id, topic, topics, b50, b90, b95, b99,
        CAST(sum(requests) AS BIGINT) AS count,
        CAST(sum(n) AS BIGINT) AS answered,
        CAST(sum(errors) AS BIGINT) AS errors,
        CAST(sum(throttled) AS BIGINT) AS throttled,
        CAST(sum(unread) AS BIGINT) AS unread,
        CAST(sum(request_bytes) AS BIGINT) AS request_bytes,
        CAST(sum(response_bytes) AS BIGINT) AS response_bytes,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns,
        min(low) AS low,
        max(high) AS high,
        TRY_CAST(sum(measured_ns) AS BIGINT) AS sum_ns,
        sum(squares) AS squares,
        TRY_CAST(sum(send_ns) AS BIGINT) AS sending_ns,
        CAST(coalesce(sum(requests) FILTER (WHERE parts_known), 0) AS BIGINT) AS parts_known,
        TRY_CAST(sum(send_ns) FILTER (WHERE parts_known) AS BIGINT) AS parts_send_ns,
        TRY_CAST(sum(queue_ns) FILTER (WHERE parts_known) AS BIGINT) AS parts_queue_ns,
        TRY_CAST(sum(muted_ns) FILTER (WHERE parts_known) AS BIGINT) AS parts_muted_ns,
        TRY_CAST(sum(proxy_ns) FILTER (WHERE parts_known) AS BIGINT) AS parts_proxy_ns,
        TRY_CAST(sum(broker_ns) FILTER (WHERE parts_known) AS BIGINT) AS parts_broker_ns,
        TRY_CAST(sum(network_ns) FILTER (WHERE parts_known) AS BIGINT) AS parts_network_ns,
        TRY_CAST(sum(unknown_ns) FILTER (WHERE parts_known) AS BIGINT) AS parts_unknown_ns,
        TRY_CAST(sum(receive_ns) FILTER (WHERE parts_known) AS BIGINT) AS parts_receive_ns,
        CAST(coalesce(sum(requests) FILTER (WHERE parts_known AND n > 0 AND bucket >= b99), 0) AS BIGINT) AS slow_known,
        TRY_CAST(sum(send_ns) FILTER (WHERE parts_known AND n > 0 AND bucket >= b99) AS BIGINT) AS slow_send_ns,
        TRY_CAST(sum(queue_ns) FILTER (WHERE parts_known AND n > 0 AND bucket >= b99) AS BIGINT) AS slow_queue_ns,
        TRY_CAST(sum(muted_ns) FILTER (WHERE parts_known AND n > 0 AND bucket >= b99) AS BIGINT) AS slow_muted_ns,
        TRY_CAST(sum(proxy_ns) FILTER (WHERE parts_known AND n > 0 AND bucket >= b99) AS BIGINT) AS slow_proxy_ns,
        TRY_CAST(sum(broker_ns) FILTER (WHERE parts_known AND n > 0 AND bucket >= b99) AS BIGINT) AS slow_broker_ns,
        TRY_CAST(sum(network_ns) FILTER (WHERE parts_known AND n > 0 AND bucket >= b99) AS BIGINT) AS slow_network_ns,
        TRY_CAST(sum(unknown_ns) FILTER (WHERE parts_known AND n > 0 AND bucket >= b99) AS BIGINT) AS slow_unknown_ns,
        TRY_CAST(sum(receive_ns) FILTER (WHERE parts_known AND n > 0 AND bucket >= b99) AS BIGINT) AS slow_receive_ns
    FROM numbered AS c LEFT JOIN points AS p ON p.slice = c.slice
    GROUP BY ALL
)
-- The value of a bucket is its middle, but within the least and the greatest value that was seen.
SELECT
    slot_ns, role, reach, api_name, kind, api_version, error_code, client_id, client_address, application, client_name, principal, broker_id,
    broker_address, broker_port, connection, client_port, group_id, topic, topics,
    count,
    answered,
    CASE WHEN b50 = -2000 THEN 0
        ELSE CAST(least(greatest(round(1e9 * exp((b50 - 0.5) * (ln(2) / 64))), low), high) AS BIGINT) END AS p50_ns,
    CASE WHEN b90 = -2000 THEN 0
        ELSE CAST(least(greatest(round(1e9 * exp((b90 - 0.5) * (ln(2) / 64))), low), high) AS BIGINT) END AS p90_ns,
    CASE WHEN b95 = -2000 THEN 0
        ELSE CAST(least(greatest(round(1e9 * exp((b95 - 0.5) * (ln(2) / 64))), low), high) AS BIGINT) END AS p95_ns,
    CASE WHEN b99 = -2000 THEN 0
        ELSE CAST(least(greatest(round(1e9 * exp((b99 - 0.5) * (ln(2) / 64))), low), high) AS BIGINT) END AS p99_ns,
    high AS max_ns,
    sum_ns,
    sending_ns,
    CASE WHEN answered > 0 THEN CAST(sum_ns AS DOUBLE) / answered END AS mean_ns,
    -- Variance to mean of the duration in seconds, as tools for database logs compute it: 0 for equal latencies. Unknown where a
    -- square is (latency_counts).
    CASE WHEN low < 0 OR high > days(1) THEN NULL
        WHEN sum_ns > 0 THEN greatest(CAST(squares AS DOUBLE) / sum_ns - CAST(sum_ns AS DOUBLE) / answered, 0) / 1e9
        WHEN sum_ns = 0 THEN 0 END AS variance_to_mean_s,
    -- None found is not none where replies could not be read.
    CASE WHEN errors > 0 OR unread = 0 THEN errors END AS errors,
    CASE WHEN throttled > 0 OR unread = 0 THEN throttled END AS throttled,
    unread,
    request_bytes,
    response_bytes,
    first_time_ns,
    last_time_ns,
    parts_known,
    parts_send_ns, parts_queue_ns, parts_muted_ns, parts_proxy_ns, parts_broker_ns, parts_network_ns, parts_unknown_ns,
    parts_receive_ns,
    slow_known,
    slow_send_ns, slow_queue_ns, slow_muted_ns, slow_proxy_ns, slow_broker_ns, slow_network_ns, slow_unknown_ns,
    slow_receive_ns
FROM picked
