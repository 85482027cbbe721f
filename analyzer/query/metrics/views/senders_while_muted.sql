-- Clients that send while they are throttled, one row a client.
SELECT
    who(x) AS who,
    CAST(sum(m.sent_inside) AS BIGINT) AS requests,
    CAST(sum(m.sent_inside) AS BIGINT) AS weight,
    max_by(m.exchange, (m.sent_inside, m.exchange)) AS evidence_worst,
    min(m.begin_ns) AS first_time_ns,
    max(m.end_ns) AS last_time_ns
FROM mutes AS m JOIN exchanges AS x ON x.exchange = m.exchange
-- What every such exchange has: most others need not be read.
WHERE x.throttle_time_ms > 0 AND m.applies AND m.sent_inside > 0 AND is_client(x.role)
GROUP BY who(x)
HAVING sum(m.sent_inside) >= 3
