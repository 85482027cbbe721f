-- severity: medium
-- rank: 22
-- when: exchanges having bool_or(status IN ('closed', 'abandoned') AND NOT (status = 'closed' AND api_key IN (1, 11, 14, 78)))
-- says: {requests|request|requests} ({api_name}) had no reply when the connection ended[, {abandoned} of them abandoned by the client]: {who}[ and {others|other client|other clients}]; longest wait {longest_ns}
-- do: The broker closed the connection (check its log at that time), or the client gave up (request.timeout.ms).
-- look: kanalyze unanswered --api {api_name}
-- One or two requests that the end of their connection cut off within a second are a client that was shut down, on however many
-- connections that happens, unless one client loses ten; a Produce among them is told all the same, but for
-- one that a kernel refused at once: the socket had been closed before, and no broker has seen it. Requests that wait at the broker by design lose nothing when
-- the end of the connection cuts them off.
WITH cut AS (
    SELECT
        x.*,
        c.last_time_ns - coalesce(x.request_end_ns, x.request_time_ns) AS waited_ns,
        x.status = 'abandoned' OR (
            coalesce(x.api_name, '') = 'Produce' AND c.last_time_ns - coalesce(x.request_end_ns, x.request_time_ns) >= 1000000
        ) AS is_loss
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.status IN ('closed', 'abandoned') AND NOT (x.status = 'closed' AND x.api_key IN (1, 11, 14, 78))
),
judged AS (
    SELECT
        *,
        count(*) OVER (PARTITION BY connection) >= 3 OR max(waited_ns) OVER (PARTITION BY connection) >= 1000000000
            OR bool_or(is_loss) OVER (PARTITION BY connection)
            OR count(*) OVER (PARTITION BY client_address, client_id) >= 10 AS matters
    FROM cut
)
SELECT
    coalesce(api_name, 'SASL token') AS api_name,
    count(*) AS requests,
    nullif(count(*) FILTER (WHERE status = 'abandoned'), 0) AS abandoned,
    min_by(coalesce(client_id, client_address), (request_time_ns, exchange)) AS who,
    CASE WHEN min(broker_address) = max(broker_address) AND min(broker_port) = max(broker_port)
        THEN max(broker_address) || ':' || CAST(max(broker_port) AS STRING) END AS broker,
    nullif(count(DISTINCT coalesce(client_id, client_address)) - 1, 0) AS others,
    max(waited_ns) AS longest_ns,
    count(*) AS weight,
    min_by(exchange, (request_time_ns, exchange)) AS evidence_first,
    max_by(exchange, (waited_ns, exchange)) AS evidence_longest,
    min(request_time_ns) AS first_time_ns,
    max(request_time_ns) AS last_time_ns
FROM judged
WHERE matters
GROUP BY coalesce(api_name, 'SASL token')
