-- How many requests of a kind does each client send at most in a second? One row per client, API and kind of wait (null: none) of
-- which some connection had 20 or more in one second of the clock: `most_per_s` is the greatest such number, `count` all of
-- the client. At most 1,000 rows of `total_rows`.
WITH seconds AS (
    SELECT connection, client_id, api_name, kind, floor(request_time_ns / 1e9) AS second, count(*) AS n
    FROM exchanges
    WHERE api_name IS NOT NULL AND request_time_ns IS NOT NULL
    GROUP BY connection, client_id, api_name, kind, floor(request_time_ns / 1e9)
),
most AS (
    SELECT connection, client_id, api_name, kind, max(n) AS most, CAST(sum(n) AS BIGINT) AS n
    FROM seconds
    GROUP BY connection, client_id, api_name, kind
)
SELECT
    l.client_address,
    l.client_id,
    l.principal,
    l.software_name,
    l.software_version,
    m.api_name,
    m.kind,
    max(m.most) AS most_per_s,
    CAST(sum(m.n) AS BIGINT) AS count,
    count(*) OVER () AS total_rows
FROM most AS m
    JOIN client_connections AS l
        ON l.connection = m.connection AND coalesce(l.client_id, '') = coalesce(m.client_id, '')
        AND (l.client_id IS NULL) = (m.client_id IS NULL)
GROUP BY l.client_address, l.client_id, l.principal, l.software_name, l.software_version, m.api_name, m.kind
HAVING max(m.most) >= 20
ORDER BY
    max(m.most) DESC, m.api_name, m.kind, l.client_id, l.client_address, l.principal, l.software_name, l.software_version
LIMIT 1000
