-- Who talks? One row per client: address without port, client id, user of the connection. Bytes are whole messages.
-- At most 1,000 rows of `total_rows`.
SELECT
    e.client_address,
    e.client_id,
    c.principal,
    max(c.software_name) AS software_name,
    max(c.software_version) AS software_version,
    count(DISTINCT e.connection) AS connections,
    count(*) AS requests,
    count(*) FILTER (WHERE e.error_count > 0) AS errors,
    count(*) FILTER (WHERE e.throttle_time_ms > 0) AS throttled,
    CAST(sum(coalesce(e.request_bytes, 0)) AS BIGINT) AS request_bytes,
    CAST(sum(coalesce(e.response_bytes, 0)) AS BIGINT) AS response_bytes,
    min(e.request_time_ns) AS first_time_ns,
    max(e.request_time_ns) AS last_time_ns,
    count(*) OVER () AS total_rows
FROM exchanges AS e LEFT JOIN connections AS c ON c.connection = e.connection
WHERE e.status <> 'orphan_reply'
GROUP BY e.client_address, e.client_id, c.principal
ORDER BY requests DESC, e.client_id, e.client_address, c.principal
LIMIT 1000
