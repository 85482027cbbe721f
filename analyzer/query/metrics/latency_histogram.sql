-- How are latencies distributed, by API and kind? `n` requests per bucket; bucket b holds latency_ns in (1.02^(b-1), 1.02^b],
-- -1 is 0. Counts of parts, and of two captures, can be added and compared. Null: no reply.
SELECT
    CASE WHEN kind = 'sasl_token' THEN 'SASL token' ELSE api_name END AS api_name,
    kind,
    CASE WHEN latency_ns IS NULL THEN NULL
        WHEN latency_ns > 0 THEN CAST(ceil(ln(latency_ns) / ln(1.02)) AS INT) ELSE -1 END AS bucket,
    count(*) AS n,
    max(latency_ns) AS max_ns
FROM exchanges
WHERE status <> 'orphan_reply' AND coalesce(role, 'client') = 'client'
GROUP BY ALL
ORDER BY api_name, kind, bucket
