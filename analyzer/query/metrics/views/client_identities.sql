-- Who is the client of each connection, as metric clients lists clients: a connection that does not say its software is no client of its
-- own. One row per connection and client id, never filtered.
WITH speaking AS (
    SELECT
        c.connection, c.client_address, t.client_id, c.principal, c.software_name, c.software_version,
        min(c.software_name) OVER (PARTITION BY c.client_address, t.client_id, c.principal) AS least_name,
        max(c.software_name) OVER (PARTITION BY c.client_address, t.client_id, c.principal) AS greatest_name,
        min(c.software_version) OVER (PARTITION BY c.client_address, t.client_id, c.principal) AS least_version,
        max(c.software_version) OVER (PARTITION BY c.client_address, t.client_id, c.principal) AS greatest_version
    FROM all_totals AS t JOIN all_connections AS c ON c.connection = t.connection
    WHERE t.status <> 'orphan_reply' AND t.is_client AND NOT t.is_token
)
SELECT DISTINCT
    connection,
    client_address,
    client_id,
    principal,
    CASE WHEN software_name IS NULL AND least_name = greatest_name AND least_version = greatest_version
        THEN least_name ELSE software_name END AS software_name,
    CASE WHEN software_name IS NULL AND least_name = greatest_name AND least_version = greatest_version
        THEN least_version ELSE software_version END AS software_version
FROM speaking
