-- On what do clients spend the time they wait? One row per class of requests (keys by `settings`), the costliest first:
-- `waited_ns` is the sum of latency_ns and of what sending took, `sending_ns` (no part of a latency); `share` (0 to 1) is that of all
-- classes; null for waits by design (reach not broker).
-- `variance_to_mean_s` tells steady classes (near 0) from wild ones. At most 1,000 rows of `total_rows`.
WITH classes AS (
    SELECT
        l.*,
        CASE WHEN l.reach = 'broker' THEN TRY_CAST(CAST(l.sum_ns AS DECIMAL(38, 0)) + CASE
            WHEN s.measure = 'latency' THEN coalesce(l.sending_ns, 0) ELSE 0 END AS BIGINT) END AS waited_ns
    FROM latency_slices AS l CROSS JOIN settings AS s
    WHERE l.role = 'client'
)
SELECT
    c.slot_ns,
    c.reach,
    c.api_name,
    c.kind,
    c.api_version,
    c.client_id,
    c.client_address,
    c.client_port,
    c.application,
    c.client_name,
    c.principal,
    c.broker_id,
    c.broker_address,
    c.broker_port,
    c.connection,
    c.group_id,
    c.topic,
    c.topics,
    c.waited_ns,
    CASE WHEN c.reach = 'broker' THEN c.sending_ns END AS sending_ns,
    CASE WHEN sum(c.waited_ns) OVER () > 0
        THEN CAST(c.waited_ns AS DOUBLE) / sum(c.waited_ns) OVER () END AS share,
    c.count,
    c.count * 1e9 / nullif(r.captured_ns, 0) AS rate_per_s,
    c.mean_ns,
    c.p95_ns,
    c.p99_ns,
    c.max_ns,
    c.variance_to_mean_s,
    c.errors,
    c.throttled,
    coalesce(c.request_bytes, 0) + coalesce(c.response_bytes, 0) AS bytes,
    count(*) OVER () AS total_rows
FROM classes AS c CROSS JOIN time_range AS r
ORDER BY
    CASE WHEN c.waited_ns IS NULL THEN 1 ELSE 0 END, c.waited_ns DESC, c.count DESC, c.api_name, c.kind, c.client_id,
    c.client_address, c.group_id, c.topic, c.reach, c.api_version, c.application, c.client_name, c.principal, c.broker_id, c.broker_address,
    c.connection, c.slot_ns
LIMIT 1000
