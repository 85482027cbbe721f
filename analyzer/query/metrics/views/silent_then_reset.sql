-- Brokers that fall silent on several connections, while clients send again, and then reset them: one row a broker. A host that lost
-- its connections without closing them, by a power cut or a failover, answers what still comes on them with a reset. Two
-- connections at least, each with a request that waited for 3 s, while none was answered, and with three packets that were sent again.
SELECT
    c.broker_address || ':' || CAST(c.broker_port AS STRING) AS broker,
    count(DISTINCT c.connection) AS times,
    count(DISTINCT c.client_address) AS hosts,
    CASE WHEN min(who(x)) = max(who(x)) THEN max(who(x)) END AS who,
    max(c.close_time_ns - x.request_end_ns) AS silent_ns,
    count(DISTINCT c.connection) AS weight,
    min_by(c.connection, (c.close_time_ns, c.connection)) AS connection,
    min_by(x.exchange, (x.request_time_ns, x.exchange)) AS evidence_first,
    min(x.request_time_ns) AS first_time_ns,
    max(c.close_time_ns) AS last_time_ns
FROM connections AS c JOIN exchanges AS x ON x.connection = c.connection
WHERE c.close = 'rst' AND c.closed_by = 'broker' AND c.client_retransmitted >= 3 AND is_client(c.role)
    AND x.status IN ('closed', 'abandoned') AND c.close_time_ns - x.request_end_ns >= s(3)
    AND NOT EXISTS (SELECT 1 FROM exchanges AS a WHERE a.connection = c.connection AND a.response_time_ns > x.request_end_ns)
GROUP BY c.broker_address, c.broker_port
HAVING count(DISTINCT c.connection) >= 2
