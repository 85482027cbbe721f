-- In nearly every capture no proxy has both its legs.
SELECT
    CAST(NULL AS BIGINT) AS part,
    CAST(NULL AS BIGINT) AS exchange,
    CAST(NULL AS BIGINT) AS from_part,
    CAST(NULL AS BIGINT) AS from_exchange,
    CAST(NULL AS INTEGER) AS proxies,
    CAST(NULL AS BIGINT) AS proxy_ns,
    CAST(NULL AS BIGINT) AS way_ns
WHERE false
