-- Whose Produce requests with acks=0 does a broker refuse? One row a client and broker. Such a request has no reply, so the broker closes
-- its connection instead: within a second after it, and nothing was sent later. Three connections at least, one after the other, for a
-- second at least. A broker that stops closes all connections that are in use, and then refuses new ones: what it closed up to a second
-- before or after that tells nothing.
WITH last_sent AS (
    SELECT
        connection,
        max(request_end_ns) AS request_end_ns,
        max_by(status, (request_time_ns, exchange)) AS status,
        max_by(api_key, (request_time_ns, exchange)) AS api_key,
        max_by(exchange, (request_time_ns, exchange)) AS exchange
    FROM all_exchanges
    WHERE request_time_ns IS NOT NULL
    GROUP BY connection
),
ends AS (
    SELECT
        c.broker_address,
        c.broker_port,
        c.close_time_ns AS time_ns,
        l.exchange,
        coalesce(l.api_key = api('Produce') AND l.status = 'no_reply_expected', false) AS is_unheard
    FROM last_sent AS l JOIN all_connections AS c ON c.connection = l.connection
    WHERE c.closed_by = 'broker' AND c.close_time_ns BETWEEN l.request_end_ns AND l.request_end_ns + s(1)
    UNION ALL
    SELECT broker_address, broker_port, first_time_ns, NULL, false
    FROM all_connections
    WHERE never_answered()
),
judged AS (
    SELECT
        *,
        bool_and(is_unheard) OVER (
            PARTITION BY broker_address, broker_port ORDER BY time_ns RANGE BETWEEN s(1) PRECEDING AND s(1) FOLLOWING
        ) AS goes_on
    FROM ends
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
    max(j.time_ns) AS last_time_ns
FROM judged AS j JOIN exchanges AS x ON x.exchange = j.exchange
WHERE j.is_unheard AND j.goes_on AND is_client(x.role)
GROUP BY x.client_id, x.client_address, x.broker_address, x.broker_port
HAVING count(*) >= 3 AND max(j.time_ns) - min(j.time_ns) >= s(1)
