-- How long do requests take, by API and kind? `count` is requests, percentiles are of latency_ns (request's last byte to
-- reply's first): the nearest-rank value to within 1 %, by buckets that grow by 2 %, so that counts of parts can be added.
WITH buckets AS (
    SELECT
        -- Bare tokens of an old SASL login have no API key.
        CASE WHEN kind = 'sasl_token' THEN 'SASL token' ELSE api_name END AS api_name,
        kind,
        CASE WHEN latency_ns > 0 THEN CAST(ceil(ln(latency_ns) / ln(1.02)) AS INT) ELSE -1 END AS bucket,
        count(*) AS requests,
        count(latency_ns) AS n,
        count(*) FILTER (WHERE error_count > 0) AS errors,
        count(*) FILTER (WHERE throttle_time_ms > 0) AS throttled,
        min(latency_ns) AS low,
        max(latency_ns) AS high
    FROM exchanges
    WHERE status <> 'orphan_reply'
    GROUP BY ALL
),
running AS (
    SELECT
        *,
        sum(n) OVER (PARTITION BY api_name, kind ORDER BY bucket ROWS UNBOUNDED PRECEDING) AS upto,
        sum(n) OVER (PARTITION BY api_name, kind) AS total
    FROM buckets
),
picked AS (
    SELECT
        api_name,
        kind,
        CAST(sum(requests) AS BIGINT) AS count,
        CAST(sum(n) AS BIGINT) AS answered,
        CAST(sum(errors) AS BIGINT) AS errors,
        CAST(sum(throttled) AS BIGINT) AS throttled,
        min(bucket) FILTER (WHERE n > 0 AND upto * 100 >= total * 50) AS b50,
        min(bucket) FILTER (WHERE n > 0 AND upto * 100 >= total * 90) AS b90,
        min(bucket) FILTER (WHERE n > 0 AND upto * 100 >= total * 99) AS b99,
        min(low) AS low,
        max(high) AS high
    FROM running
    GROUP BY ALL
)
-- A bucket stands for its middle, kept between the least and the greatest value that was seen.
SELECT
    api_name,
    kind,
    count,
    answered,
    CASE WHEN r.last_time_ns > r.first_time_ns
        THEN count * 1e9 / (r.last_time_ns - r.first_time_ns) END AS rate_per_s,
    CASE WHEN b50 < 0 THEN 0
        ELSE CAST(least(greatest(round(exp((b50 - 0.5) * ln(1.02))), low), high) AS BIGINT) END AS p50_ns,
    CASE WHEN b90 < 0 THEN 0
        ELSE CAST(least(greatest(round(exp((b90 - 0.5) * ln(1.02))), low), high) AS BIGINT) END AS p90_ns,
    CASE WHEN b99 < 0 THEN 0
        ELSE CAST(least(greatest(round(exp((b99 - 0.5) * ln(1.02))), low), high) AS BIGINT) END AS p99_ns,
    high AS max_ns,
    errors,
    throttled
FROM picked CROSS JOIN time_range AS r
ORDER BY count DESC, api_name, kind
