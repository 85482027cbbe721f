-- How much traffic do the filters leave? One row. `captured_ns` is the time that they leave and that files cover.
WITH links AS (
    SELECT count(DISTINCT CASE
            WHEN broker_id IS NOT NULL THEN 'node ' || CAST(broker_id AS STRING) || ' of ' || coalesce(cluster, '')
            ELSE broker_address || ':' || CAST(broker_port AS STRING)
        END) AS brokers
    FROM connections
    WHERE is_kafka AND forwarded_from IS NULL
),
clients AS (
    SELECT count(*) AS clients
    FROM (
        SELECT DISTINCT c.client_address, t.client_id, c.principal
        FROM totals AS t JOIN connections AS c ON c.connection = t.connection
        WHERE t.status <> 'orphan_reply' AND t.is_client AND NOT t.is_token
    ) AS identities
),
sums AS (
    SELECT CAST(coalesce(sum(exchanges) FILTER (WHERE status <> 'orphan_reply'), 0) AS BIGINT) AS requests
    FROM totals
)
SELECT * FROM (SELECT captured_ns FROM time_range) AS lengths CROSS JOIN links CROSS JOIN clients CROSS JOIN sums
