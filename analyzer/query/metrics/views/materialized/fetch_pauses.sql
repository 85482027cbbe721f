-- When did nobody of a group fetch? One row per stretch without any Fetch under way, of all clients that are in that group and
-- in no other. Share groups are left out, and groups that did not rebalance, of which nobody asks.
WITH groups AS (
    -- Numbers are sorted in a fraction of the time that texts take.
    SELECT cluster, group_id, row_number() OVER () AS number FROM classic_rebalances GROUP BY cluster, group_id
),
clients AS (
    SELECT t.connection, t.client_id, n.number
    FROM all_totals AS t
        JOIN all_connections AS c ON c.connection = t.connection
        JOIN client_groups AS g
            ON g.cluster = coalesce(c.cluster, '') AND g.client_address = t.client_address AND g.client_id = coalesce(t.client_id, '')
        JOIN groups AS n ON n.cluster = g.cluster AND n.group_id = g.group_id
    GROUP BY t.connection, t.client_id, n.number
),
fetches AS (
    SELECT
        k.number,
        x.request_time_ns AS begin_ns,
        max(coalesce(x.response_end_ns, x.request_time_ns)) OVER (
            PARTITION BY k.number ORDER BY x.request_time_ns, x.exchange ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS covered_ns
    FROM all_exchanges AS x JOIN clients AS k ON k.connection = x.connection AND k.client_id IS NOT DISTINCT FROM x.client_id
    WHERE x.api_key = api('Fetch') AND coalesce(x.replica_id, -1) < 0 AND x.request_time_ns IS NOT NULL
)
SELECT n.cluster, n.group_id, f.covered_ns AS begin_ns, f.begin_ns AS end_ns
FROM fetches AS f JOIN groups AS n ON n.number = f.number
WHERE f.covered_ns IS NULL OR f.begin_ns > f.covered_ns
