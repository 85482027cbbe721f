-- Connections that clients close at a reply which none of their requests asked for: one row a client and broker. The connection was
-- seen from its first packet without a gap, so that no request is missing in the capture; the client closes within a second.
SELECT
    min(who(x)) AS who,
    c.client_address,
    c.broker_address || ':' || CAST(c.broker_port AS STRING) AS broker,
    count(DISTINCT c.connection) AS times,
    CASE WHEN count(DISTINCT c.connection) >= 10 THEN 'high' END AS severity,
    count(DISTINCT c.connection) AS weight,
    min_by(c.connection, (o.response_time_ns, o.exchange)) AS connection,
    min_by(o.exchange, (o.response_time_ns, o.exchange)) AS evidence_first,
    max_by(o.exchange, (o.response_time_ns, o.exchange)) AS evidence_last,
    min(o.response_time_ns) AS first_time_ns,
    max(o.response_time_ns) AS last_time_ns
FROM exchanges AS o
JOIN connections AS c ON c.connection = o.connection
JOIN exchanges AS x ON x.connection = c.connection AND x.status IN ('closed', 'abandoned')
WHERE o.status = 'orphan_reply' AND c.seen_from = 'syn' AND c.client_gaps + c.broker_gaps = 0
    AND c.client_skipped_malformed_bytes = 0 AND c.closed_by = 'client'
    AND c.close_time_ns BETWEEN o.response_time_ns AND o.response_time_ns + s(1)
GROUP BY c.client_address, x.client_id, c.broker_address, c.broker_port
HAVING count(DISTINCT c.connection) >= 3
