-- severity: info
-- rank: 62
-- when: errors having count(*) FILTER (WHERE code IN (error('FETCH_SESSION_ID_NOT_FOUND', 'INVALID_FETCH_SESSION_EPOCH'))) >= 10
-- says: {broker} {problem}: {times|Fetch was|Fetches were} refused because of that
-- do: {advice}
-- look: kanalyze errors --by broker --api Fetch
-- delays: nobody
-- costs: refused(Fetch)
-- Consumers that ask under a session (KIP-227) which their broker does not know, again and again: one row per broker and code, of clients
-- of which ten Fetches and one in twenty were refused so. A session that was given up once, or after a restart of the broker, is normal
-- operation. Medium where it is one in four: then sessions serve nothing. Another epoch than the broker's is no full cache: a Fetch
-- came twice, or not at all.
WITH refused AS (
    SELECT exchange, min(code) AS code
    FROM errors
    WHERE code IN (error('FETCH_SESSION_ID_NOT_FOUND', 'INVALID_FETCH_SESSION_EPOCH'))
    GROUP BY exchange
),
fetches AS (
    SELECT
        x.broker_address,
        x.broker_port,
        x.client_address,
        who(x) AS who,
        r.code,
        r.exchange AS refused,
        x.request_time_ns,
        count(*) OVER (PARTITION BY x.broker_address, x.broker_port, x.client_address, who(x)) AS fetches
    FROM exchanges AS x LEFT JOIN refused AS r ON r.exchange = x.exchange
    WHERE x.api_key = api('Fetch') AND is_client(x.role)
),
of_clients AS (
    SELECT
        broker_address,
        broker_port,
        client_address,
        who,
        code,
        fetches,
        count(*) AS times,
        min_by(refused, (request_time_ns, refused)) AS evidence_first,
        max_by(refused, (request_time_ns, refused)) AS evidence_last,
        min(request_time_ns) AS first_time_ns,
        max(request_time_ns) AS last_time_ns
    FROM fetches
    WHERE refused IS NOT NULL
    GROUP BY broker_address, broker_port, client_address, who, code, fetches
    HAVING count(*) >= 10 AND count(*) * 20 >= fetches
)
SELECT
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    CASE WHEN code = error('FETCH_SESSION_ID_NOT_FOUND') THEN 'no longer has the fetch sessions that its consumers name'
        ELSE 'is at another epoch of fetch sessions than its consumers' END AS problem,
    CASE WHEN count(*) = 1 THEN min(who) END AS who,
    CASE WHEN min(client_address) = max(client_address) THEN min(client_address) END AS client_address,
    CAST(sum(times) AS BIGINT) AS times,
    CASE WHEN code = error('FETCH_SESSION_ID_NOT_FOUND')
        THEN 'The broker keeps fewer fetch sessions than its clients and followers need: raise max.incremental.fetch.session.cache.slots (1,000 by default), or let fewer consumers fetch from it. Also possible: this address is a balancer before several brokers, each of which knows its own sessions alone; then let each broker advertise an address of its own. Each lost session costs a refused Fetch, and then one that names all partitions.'
        ELSE 'A Fetch of the session reached the broker twice, or not at all: look for a proxy that sends requests again, or for two clients that share a session. Also possible: a balancer that leads to several brokers.'
    END AS advice,
    CASE WHEN sum(times) * 4 >= sum(fetches) THEN 'medium' END AS severity,
    CAST(sum(times) AS BIGINT) AS weight,
    min_by(evidence_first, (first_time_ns, evidence_first)) AS evidence_first,
    max_by(evidence_last, (last_time_ns, evidence_last)) AS evidence_last,
    min(first_time_ns) AS first_time_ns,
    max(last_time_ns) AS last_time_ns
FROM of_clients
GROUP BY broker_address, broker_port, code
