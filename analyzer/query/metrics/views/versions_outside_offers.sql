-- Requests in versions that their broker does not offer, one row a client, API and version.
-- ApiVersions itself is asked before there is an offer.
-- Versions that a connection used are few, requests and offers are many.
WITH outside AS (
    SELECT
        a.connection,
        a.api_key,
        a.api_version,
        min(f.time_ns) AS time_ns,
        min(f.min_version) AS min_version,
        max(f.max_version) AS max_version
    FROM doubtful_versions AS a JOIN offered_versions AS f ON f.connection = a.connection AND f.api_key = a.api_key
    WHERE f.connection IN (SELECT connection FROM doubtful_versions)
    GROUP BY a.connection, a.api_key, a.api_version
    HAVING a.api_version < min(f.min_version) OR a.api_version > max(f.max_version)
)
SELECT
    who(x) AS who,
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
FROM exchanges AS x
JOIN outside AS o ON o.connection = x.connection AND o.api_key = x.api_key AND o.api_version = x.api_version
WHERE x.request_time_ns > o.time_ns
GROUP BY who(x), x.api_name, x.api_version, o.min_version, o.max_version
