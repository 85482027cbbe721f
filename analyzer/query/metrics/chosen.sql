-- How much traffic do the filters leave? One row. Brokers and clients are those that metric coverage counts; `captured_ns` is the time
-- that the filters leave and that files cover.
WITH brokers AS (
    SELECT CAST(coalesce(sum(least(brokers, nodes)), 0) AS BIGINT) AS brokers
    FROM (
        SELECT cluster, nodes, count(*) AS brokers
        FROM (
            SELECT max(e.cluster) AS cluster, max(e.nodes) AS nodes
            FROM broker_endpoints AS e
            WHERE EXISTS (
                SELECT 1 FROM connections AS c
                WHERE c.broker_address = e.broker_address AND c.broker_port = e.broker_port AND c.is_kafka
                    AND c.forwarded_from IS NULL
            )
            GROUP BY e.broker
        ) AS each_one
        GROUP BY cluster, nodes
    ) AS r
),
clients AS (
    SELECT count(*) AS clients
    FROM (
        SELECT DISTINCT i.client_address, i.client_id, i.principal, i.software_name, i.software_version
        FROM client_identities AS i
        JOIN totals AS t ON t.connection = i.connection AND t.client_id IS NOT DISTINCT FROM i.client_id
        WHERE t.status <> 'orphan_reply' AND t.is_client AND NOT t.is_token
    ) AS identities
),
sums AS (
    SELECT CAST(coalesce(sum(exchanges) FILTER (WHERE status <> 'orphan_reply'), 0) AS BIGINT) AS requests
    FROM totals
)
SELECT * FROM (SELECT captured_ns FROM time_range) AS lengths CROSS JOIN brokers CROSS JOIN clients CROSS JOIN sums
