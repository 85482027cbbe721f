-- How are latencies distributed over time? `n` answered requests of clients per time slot, API, kind and bucket: bucket b holds latencies
-- in (2^((b-1)/8), 2^(b/8)] seconds, -250 is 0, so a value in its middle is at most 4.5 % off. The 16 most frequent APIs and kinds
-- have rows of their own, all others of one reach together those with `is_rest`. Counts can be added.
WITH counted AS (
    SELECT
        q.slot_ns,
        coalesce(k.reach, CASE WHEN q.own_kind IS NULL THEN 'broker' ELSE 'mixed' END) AS reach,
        q.api_name,
        q.kind,
        CASE WHEN q.measured_ns > 0 THEN CAST(ceil(8 * ln(q.measured_ns / 1e9) / ln(2)) AS INT) ELSE -250 END AS bucket,
        count(*) AS n
    FROM request_slices AS q LEFT JOIN kinds AS k ON k.kind = q.own_kind
    WHERE q.role = 'client' AND q.measured_ns IS NOT NULL
    GROUP BY ALL
),
numbered AS (
    SELECT *, dense_rank() OVER (ORDER BY
            reach IS NULL, reach, api_name IS NULL, api_name, kind IS NULL, kind
        ) AS number FROM counted
),
totalled AS (
    SELECT *, sum(n) OVER (PARTITION BY number) AS total FROM numbered
),
placed AS (
    SELECT *, dense_rank() OVER (ORDER BY total DESC, number) > 16 AS is_rest FROM totalled
)
SELECT
    slot_ns,
    is_rest,
    reach,
    CASE WHEN NOT is_rest THEN api_name END AS api_name,
    CASE WHEN NOT is_rest THEN kind END AS kind,
    bucket,
    CAST(sum(n) AS BIGINT) AS n
FROM placed
GROUP BY
    slot_ns, is_rest, reach, CASE WHEN NOT is_rest THEN api_name END, CASE WHEN NOT is_rest THEN kind END, bucket
ORDER BY slot_ns, is_rest, reach, api_name, kind, bucket
