-- Which clients send too many small requests? One row per client and `what`: metadata (`requests` for metadata on one connection, at most
-- `most_per_s` over `over_ns`) or tiny (Produce requests of less than 1 kB in seconds with 100 and more). The most requests first.
SELECT * FROM (
    SELECT 'metadata' AS what, who, worst_per_s AS most_per_s, over_ns, requests FROM metadata_storms
    UNION ALL
    SELECT 'tiny' AS what, who, worst_per_s AS most_per_s, CAST(NULL AS BIGINT) AS over_ns, requests FROM tiny_requests
) AS storms
ORDER BY requests DESC, who, what, most_per_s
