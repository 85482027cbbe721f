-- Which connections stand out, those that are alike in one row? Alike: the same client, host and broker, count of requests, and
-- what stands out; one whose packets were sent again is a row of its own (`is_lossy`). `connections` is how many; `client_port` is
-- null where it is several. `requests`, `unanswered`, `gaps` and `gap_bytes` are of each. At most 1,000 rows of `total_rows`.
WITH noted AS (
    SELECT *, CASE WHEN packets >= 100 AND retransmitted * 100 > packets THEN connection END AS lossy FROM noted_connections
)
SELECT
    client_id,
    client_address,
    broker_address,
    broker_port,
    requests,
    never_answered,
    unanswered,
    gaps,
    gap_bytes,
    reset,
    lossy IS NOT NULL AS is_lossy,
    count(*) AS connections,
    CASE WHEN count(*) = 1 THEN min(client_port) END AS client_port,
    max(CASE WHEN lossy IS NOT NULL THEN retransmitted_share END) AS retransmitted_share,
    max(retransmitted) AS retransmitted,
    min(first_time_ns) AS first_time_ns,
    max(first_time_ns) AS last_begin_time_ns,
    count(*) OVER () AS total_rows
FROM noted
GROUP BY client_id, client_address, broker_address, broker_port, requests, never_answered, unanswered, gaps, gap_bytes, reset, lossy
ORDER BY never_answered DESC, unanswered DESC, gap_bytes DESC, max(retransmitted) DESC, min(first_time_ns), client_id,
    client_address, broker_address, broker_port, requests, reset
LIMIT 1000
