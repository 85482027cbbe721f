-- severity: medium
-- rank: 22
-- when: connections having count(*) > 0
-- says: {requests|request|requests} ({api_name}) had no answer when the connection ended[, {abandoned} of them given up by the client]: {who}[ and {others|other client|other clients}]; longest wait {longest_ns}
-- do: The broker closed (look at its log at that time), or the client lost patience (request.timeout.ms).
-- look: kanalyze unanswered --api {api_name}
-- One or two requests that were cut off within a second are a client that was shut down; a Produce among them is told all the same.
-- Requests that wait at the broker by design lose nothing when the end of the connection cuts them off.
SELECT
    coalesce(x.api_name, 'SASL token') AS api_name,
    count(*) AS requests,
    nullif(count(*) FILTER (WHERE x.status = 'abandoned'), 0) AS abandoned,
    min_by(coalesce(x.client_id, x.client_address), (x.request_time_ns, x.exchange)) AS who,
    CASE WHEN min(x.broker_address) = max(x.broker_address) AND min(x.broker_port) = max(x.broker_port)
        THEN max(x.broker_address) || ':' || CAST(max(x.broker_port) AS STRING) END AS broker,
    nullif(count(DISTINCT coalesce(x.client_id, x.client_address)) - 1, 0) AS others,
    max(c.last_time_ns - coalesce(x.request_end_ns, x.request_time_ns)) AS longest_ns,
    count(*) AS weight,
    min_by(x.exchange, (x.request_time_ns, x.exchange)) AS evidence_first,
    max_by(x.exchange, (c.last_time_ns - x.request_time_ns, x.exchange)) AS evidence_longest,
    min(x.request_time_ns) AS first_time_ns,
    max(x.request_time_ns) AS last_time_ns
FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
WHERE x.status IN ('closed', 'abandoned')
    AND NOT (x.status = 'closed' AND x.api_key IN (1, 11, 14, 78))
GROUP BY coalesce(x.api_name, 'SASL token')
HAVING count(*) >= 3 OR count(*) FILTER (WHERE x.status = 'abandoned' OR x.api_name = 'Produce') > 0
    OR max(c.last_time_ns - coalesce(x.request_end_ns, x.request_time_ns)) >= 1000000000
