-- Which APIs does each client use, in which versions? One row per client, API and version, with one request as an example.
-- `greatest_bytes`: of a request or a reply; `large`: how many have more than 10 MB in one of the two. At most 10,000 rows of `total_rows`.
SELECT
    l.client_address,
    l.client_id,
    l.principal,
    l.software_name,
    l.software_version,
    e.api_key,
    e.api_name,
    e.api_version,
    count(*) AS count,
    count(*) FILTER (WHERE NOT no_error(e.error_code)) AS errors,
    max(greatest(coalesce(e.request_bytes, 0), coalesce(e.response_bytes, 0))) AS greatest_bytes,
    count(*) FILTER (WHERE e.request_bytes > mb(10) OR e.response_bytes > mb(10)) AS large,
    min(e.exchange) AS example_exchange,
    count(*) OVER () AS total_rows
FROM exchanges AS e
    JOIN client_connections AS l
        ON l.connection = e.connection AND coalesce(l.client_id, '') = coalesce(e.client_id, '')
        AND (l.client_id IS NULL) = (e.client_id IS NULL)
WHERE e.api_key IS NOT NULL AND e.status <> 'orphan_reply'
GROUP BY
    l.client_address, l.client_id, l.principal, l.software_name, l.software_version, e.api_key, e.api_name, e.api_version
ORDER BY l.client_id, l.client_address, l.principal, l.software_name, l.software_version, e.api_key, e.api_version
LIMIT 10000
