-- Whose Produce requests with acks=0 does a broker refuse? One row a client and broker. Such a request has no reply, so the broker closes
-- its connection instead: within a second after it, and nothing was sent later. Three connections at least, one after the other, for a
-- second at least: a broker that ends takes all of them at once.
WITH last_sent AS (
    SELECT
        connection,
        max(request_end_ns) AS request_end_ns,
        max_by(status, (request_time_ns, exchange)) AS status,
        max_by(api_key, (request_time_ns, exchange)) AS api_key,
        max_by(exchange, (request_time_ns, exchange)) AS exchange
    FROM exchanges
    WHERE request_time_ns IS NOT NULL AND is_client(role)
    GROUP BY connection
)
SELECT
    who(x) AS who,
    x.client_address,
    x.broker_address || ':' || CAST(x.broker_port AS STRING) AS broker,
    count(*) AS times,
    count(*) AS weight,
    CASE WHEN count(*) >= impact('refusals') THEN 'high' END AS severity,
    min_by(x.exchange, (x.request_time_ns, x.exchange)) AS evidence_first,
    max_by(x.exchange, (x.request_time_ns, x.exchange)) AS evidence_last,
    min(x.request_time_ns) AS first_time_ns,
    max(c.close_time_ns) AS last_time_ns
FROM last_sent AS l
JOIN exchanges AS x ON x.exchange = l.exchange
JOIN connections AS c ON c.connection = l.connection
WHERE l.api_key = api('Produce') AND l.status = 'no_reply_expected'
    AND c.closed_by = 'broker' AND c.close_time_ns BETWEEN l.request_end_ns AND l.request_end_ns + s(1)
GROUP BY x.client_id, x.client_address, x.broker_address, x.broker_port
HAVING count(*) >= 3 AND max(c.close_time_ns) - min(c.close_time_ns) >= s(1)
