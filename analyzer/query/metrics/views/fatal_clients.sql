-- Whose requests always end the connection (`fatal_requests`), and not for their version? One row per client, broker and API.
-- A broker that ends takes all its connections with it: these ended one after the other, for a second at least.
SELECT
    who(x) AS who,
    x.client_address,
    x.broker_address || ':' || CAST(x.broker_port AS STRING) AS broker,
    x.api_name,
    count(*) AS requests,
    count(*) AS weight,
    CASE WHEN count(*) >= impact('refusals') THEN 'high' END AS severity,
    min_by(x.exchange, (x.request_time_ns, x.exchange)) AS evidence_first,
    max_by(x.exchange, (x.request_time_ns, x.exchange)) AS evidence_last,
    min(x.request_time_ns) AS first_time_ns,
    max(x.request_time_ns) AS last_time_ns
FROM exchanges AS x
JOIN fatal_requests AS f
    ON f.client_address = x.client_address AND f.broker_address = x.broker_address AND f.broker_port = x.broker_port
    AND f.api_key = x.api_key
JOIN connections AS c ON c.connection = x.connection
LEFT JOIN readiness_verdicts AS v
    ON v.verdict = 'already_failing' AND v.release = (SELECT max_by(release, place) FROM kafka_releases)
    AND v.client_address = x.client_address AND v.client_id IS NOT DISTINCT FROM x.client_id
    AND v.api_key = x.api_key AND v.api_version = x.api_version
WHERE f.answers_others AND x.status = 'closed' AND c.closed_by = 'broker' AND c.close_time_ns BETWEEN x.request_end_ns AND x.request_end_ns + s(2) AND v.api_key IS NULL
GROUP BY x.client_id, x.client_address, x.broker_address, x.broker_port, x.api_name
HAVING count(DISTINCT x.connection) >= 3 AND max(c.close_time_ns) - min(c.close_time_ns) >= s(1)
