-- How the requests of each connection ended, how many of them were ApiVersions, the name that its client gave, and one exchange of it.
SELECT
    connection,
    max(client_id) AS client_id,
    min(exchange) AS exchange,
    CAST(coalesce(sum(exchanges) FILTER (WHERE status <> 'orphan_reply'), 0) AS BIGINT) AS requests,
    CAST(sum(hello_requests) AS BIGINT) AS hello_requests,
    CAST(coalesce(sum(exchanges) FILTER (WHERE status = 'answered'), 0) AS BIGINT) AS answered,
    CAST(coalesce(sum(exchanges) FILTER (WHERE status IN ('closed', 'abandoned')), 0) AS BIGINT) AS unanswered,
    CAST(coalesce(sum(exchanges) FILTER (WHERE status = 'pending'), 0) AS BIGINT) AS pending,
    CAST(coalesce(sum(exchanges) FILTER (WHERE status = 'orphan_reply'), 0) AS BIGINT) AS orphan_replies
FROM totals
GROUP BY connection
