-- When did nobody of a group fetch? One row per stretch without any Fetch under way, of all clients that are in that group and
-- in no other. Share groups are left out.
WITH fetches AS (
    SELECT
        g.cluster,
        g.group_id,
        x.request_time_ns AS begin_ns,
        max(coalesce(x.response_end_ns, x.request_time_ns)) OVER (
            PARTITION BY g.cluster, g.group_id ORDER BY x.request_time_ns, x.exchange
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS covered_ns
    FROM all_exchanges AS x
        JOIN all_connections AS c ON c.connection = x.connection
        JOIN client_groups AS g
            ON g.cluster = coalesce(c.cluster, '') AND g.client_address = x.client_address
            AND g.client_id = coalesce(x.client_id, '')
    WHERE x.api_key = api('Fetch') AND coalesce(x.replica_id, -1) < 0 AND g.group_id IS NOT NULL AND x.request_time_ns IS NOT NULL
)
SELECT cluster, group_id, covered_ns AS begin_ns, begin_ns AS end_ns FROM fetches
WHERE covered_ns IS NULL OR begin_ns > covered_ns
