-- How the requests of each connection ended, the name that its client gave, and one exchange of it.
SELECT
    connection,
    max(client_id) AS client_id,
    min(exchange) AS exchange,
    count(*) FILTER (WHERE status <> 'orphan_reply') AS requests,
    count(*) FILTER (WHERE status = 'answered') AS answered,
    count(*) FILTER (WHERE status IN ('closed', 'abandoned')) AS unanswered,
    count(*) FILTER (WHERE status = 'pending') AS pending,
    count(*) FILTER (WHERE status = 'orphan_reply') AS orphan_replies
FROM exchanges
GROUP BY connection
