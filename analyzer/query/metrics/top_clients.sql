-- Which clients wait longest, or are busiest? The clients of metric clients, by fewer columns: those that are read of every capture, however large. One row
-- per client: address without port, client id, user and software. Bytes are whole messages. Of a client without
-- a reply it is not known what failed, nor where replies could not be read (`unread_replies`) and none was found. At most 20 rows of `total_rows`.
WITH asked AS (
    SELECT
        l.client,
        CAST(sum(e.exchanges) AS BIGINT) AS requests,
        CAST(coalesce(sum(e.exchanges) FILTER (WHERE e.status = 'answered'), 0) AS BIGINT) AS answered,
        CAST(sum(e.errors) AS BIGINT) AS errors,
        CAST(sum(e.throttled) AS BIGINT) AS throttled,
        CAST(sum(e.unread_replies) AS BIGINT) AS unread,
        CAST(coalesce(sum(e.exchanges) FILTER (WHERE e.status IN ('closed', 'abandoned')), 0) AS BIGINT) AS unanswered,
        TRY_CAST(sum(e.waited_ns) AS BIGINT) AS waited_ns,
        CAST(sum(e.request_bytes) AS BIGINT) AS request_bytes,
        CAST(sum(e.response_bytes) AS BIGINT) AS response_bytes
    FROM totals AS e
        JOIN client_connections AS l
            ON l.connection = e.connection AND coalesce(l.client_id, '') = coalesce(e.client_id, '')
            AND (l.client_id IS NULL) = (e.client_id IS NULL)
    WHERE e.status <> 'orphan_reply' AND NOT e.is_token
    GROUP BY l.client
),
lives AS (
    SELECT
        client,
        max(client_address) AS client_address,
        max(client_id) AS client_id,
        max(principal) AS principal,
        max(client_host) AS client_host,
        max(client_pod) AS client_pod,
        max(client_namespace) AS client_namespace,
        max(software_name) AS software_name,
        max(software_version) AS software_version,
        count(*) AS connections,
        bool_or(broker_packets > 0) AS heard
    FROM client_connections
    GROUP BY client
)
SELECT
    l.client_address,
    l.client_id,
    l.principal,
    l.client_host,
    l.client_pod,
    l.client_namespace,
    l.software_name,
    l.software_version,
    CASE WHEN l.software_name IS NULL THEN i.library END AS inferred_library,
    a.application,
    a.software AS application_software,
    a.connector,
    a.task,
    a.inferred_from AS application_from,
    l.connections,
    t.requests,
    CASE WHEN t.answered > 0 AND (t.errors > 0 OR t.unread = 0) THEN t.errors END AS errors,
    CASE WHEN t.answered > 0 AND (t.throttled > 0 OR t.unread = 0) THEN t.throttled END AS throttled,
    t.unread AS unread_replies,
    t.unanswered,
    t.waited_ns,
    t.request_bytes,
    -- What a client received is not known where nothing that brokers sent it was captured.
    CASE WHEN t.response_bytes > 0 OR l.heard THEN coalesce(t.response_bytes, 0) END AS response_bytes,
    count(*) OVER () AS total_rows
FROM lives AS l
    JOIN asked AS t ON t.client = l.client
    LEFT JOIN inferred_libraries AS i
        ON i.client_address = l.client_address AND i.client_id IS NOT DISTINCT FROM l.client_id
    LEFT JOIN applications AS a ON a.client_address = l.client_address AND a.client_id = l.client_id
ORDER BY
    t.waited_ns DESC NULLS LAST, t.requests DESC, l.client_id IS NULL, l.client_id, l.client_address, l.principal IS NULL, l.principal, l.software_name IS NULL,
    l.software_name, l.software_version IS NULL, l.software_version
LIMIT 20
