-- severity: high
-- rank: 26
-- when: exchange_sorts having bool_or(status IN ('closed', 'abandoned') OR api_key = api('Produce') AND api_version < 3)
-- and: refusable_versions having count(*) > 0
-- says: {who}[ at {client_address}] already fails: the broker closes its connection on {api_name} v{api_version}[, one of {versions|such API version|such API versions}] ({requests|request|requests})
-- do: The broker does not support this version: upgrade the client, or raise its configured protocol version (`kanalyze readiness` names the setting where it is known).
-- look: kanalyze readiness[ --client {who}]
-- explains: breaks_on_4, unanswered, hung_up_at_once, connection_storm, metadata_storm, version_outside_offer, failing(UNSUPPORTED_VERSION)
-- costs: unanswered, connections, refused(UNSUPPORTED_VERSION)
-- High from three requests on: a client in use tries again.
SELECT
    who() AS who,
    CASE WHEN client_id <> '' THEN client_address END AS client_address,
    max_by(api_name, (requests, api_key, api_version)) AS api_name,
    max_by(api_version, (requests, api_key, api_version)) AS api_version,
    nullif(count(*), 1) AS versions,
    CAST(sum(requests) AS BIGINT) AS requests,
    CAST(sum(requests) AS BIGINT) AS weight,
    CASE WHEN sum(requests) >= 3 THEN 'high' ELSE 'medium' END AS severity,
    min_by(example_exchange, (first_time_ns, example_exchange)) AS evidence_first,
    min(first_time_ns) AS first_time_ns,
    max(last_time_ns) AS last_time_ns
FROM readiness_verdicts
WHERE release = (SELECT max_by(release, place) FROM kafka_releases) AND verdict = 'already_failing'
GROUP BY client_id, client_address
