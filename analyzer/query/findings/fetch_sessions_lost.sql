-- severity: info
-- rank: 62
-- when: errors having count(*) FILTER (WHERE code IN (error('FETCH_SESSION_ID_NOT_FOUND', 'INVALID_FETCH_SESSION_EPOCH'))) >= 10
-- says: {broker} no longer has the fetch sessions that its consumers name: it refused {times|Fetch|Fetches} for that
-- do: The broker keeps fewer fetch sessions than its clients and followers need: raise max.incremental.fetch.session.cache.slots (1,000 by default), or let fewer consumers fetch from it. Each lost session costs a refused Fetch, and then one that names all partitions.
-- look: kanalyze errors --by broker --api Fetch
-- delays: nobody
-- Consumers that ask under a session (KIP-227) which their broker does not know, again and again: one row per broker, of clients of which
-- ten Fetches and one in twenty were refused so. A session that was given up once, or after a restart of the broker, is normal operation.
-- Medium where it is one in four: then sessions serve nothing.
WITH refused AS (
    SELECT exchange FROM errors WHERE code IN (error('FETCH_SESSION_ID_NOT_FOUND', 'INVALID_FETCH_SESSION_EPOCH')) GROUP BY exchange
),
clients AS (
    SELECT
        x.broker_address,
        x.broker_port,
        x.client_address,
        who(x) AS who,
        count(*) AS fetches,
        count(r.exchange) AS times,
        min_by(r.exchange, (x.request_time_ns, x.exchange)) FILTER (WHERE r.exchange IS NOT NULL) AS evidence_first,
        max_by(r.exchange, (x.request_time_ns, x.exchange)) FILTER (WHERE r.exchange IS NOT NULL) AS evidence_last,
        min(x.request_time_ns) FILTER (WHERE r.exchange IS NOT NULL) AS first_time_ns,
        max(x.request_time_ns) FILTER (WHERE r.exchange IS NOT NULL) AS last_time_ns
    FROM exchanges AS x LEFT JOIN refused AS r ON r.exchange = x.exchange
    WHERE x.api_key = api('Fetch') AND is_client(x.role)
    GROUP BY x.broker_address, x.broker_port, x.client_address, who(x)
    HAVING count(r.exchange) >= 10 AND count(r.exchange) * 20 >= count(*)
)
SELECT
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    max_by(who, (times, client_address, who)) AS who,
    CASE WHEN min(client_address) = max(client_address) THEN min(client_address) END AS client_address,
    CAST(sum(times) AS BIGINT) AS times,
    CASE WHEN sum(times) * 4 >= sum(fetches) THEN 'medium' END AS severity,
    CAST(sum(times) AS BIGINT) AS weight,
    min_by(evidence_first, (first_time_ns, evidence_first)) AS evidence_first,
    max_by(evidence_last, (last_time_ns, evidence_last)) AS evidence_last,
    min(first_time_ns) AS first_time_ns,
    max(last_time_ns) AS last_time_ns
FROM clients
GROUP BY broker_address, broker_port
