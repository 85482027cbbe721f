-- How are latencies distributed, by API and kind? `n` requests per bucket; bucket b holds latencies in (2^((b-1)/64), 2^(b/64)]
-- seconds, -2000 is 0. Counts of parts, and of two captures, can be added and compared. Null: no reply.
SELECT
    CASE WHEN kind = 'sasl_token' THEN 'SASL token' ELSE api_name END AS api_name,
    kind,
    CASE WHEN latency_ns IS NULL THEN NULL
        WHEN latency_ns > 0 THEN CAST(ceil(64 * ln(latency_ns / 1e9) / ln(2)) AS INT) ELSE -2000 END AS bucket,
    count(*) AS n,
    max(latency_ns) AS max_ns
FROM exchanges
WHERE status <> 'orphan_reply' AND is_client(role)
GROUP BY ALL
ORDER BY api_name, kind, bucket
