-- severity: medium
-- rank: 46
-- when: offered_versions having count(*) > 0
-- says: {who} sends {api_name} v{api_version}, though the broker offers {min_version} to {max_version}: {requests|request|requests}
-- do: Its protocol version is set by hand, or the client has a fault: let it negotiate.
-- look: kanalyze exchanges[ --client {who}] --api {api_name}
-- ApiVersions itself is asked before there is an offer.
WITH offers AS (
    SELECT connection, api_key, min(time_ns) AS time_ns, min(min_version) AS min_version, max(max_version) AS max_version
    FROM offered_versions
    GROUP BY connection, api_key
)
SELECT
    coalesce(x.client_id, x.client_address) AS who,
    x.api_name,
    x.api_version,
    o.min_version,
    o.max_version,
    count(*) AS requests,
    count(*) AS weight,
    min_by(x.exchange, (x.request_time_ns, x.exchange)) AS evidence_first,
    max_by(x.exchange, (x.request_time_ns, x.exchange)) AS evidence_last,
    min(x.request_time_ns) AS first_time_ns,
    max(x.request_time_ns) AS last_time_ns
FROM exchanges AS x JOIN offers AS o ON o.connection = x.connection AND o.api_key = x.api_key
WHERE x.api_key <> 18 AND x.request_time_ns > o.time_ns
    AND (x.api_version < o.min_version OR x.api_version > o.max_version)
GROUP BY coalesce(x.client_id, x.client_address), x.api_name, x.api_version, o.min_version, o.max_version
