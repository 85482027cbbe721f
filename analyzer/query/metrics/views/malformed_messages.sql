-- Messages that could not be decoded as the protocol defines, one row an API and version.
SELECT
    api_name,
    api_version,
    count(*) AS messages,
    count(*) AS weight,
    min(exchange) AS evidence_any,
    min(coalesce(request_time_ns, response_time_ns)) AS first_time_ns,
    max(coalesce(request_time_ns, response_time_ns)) AS last_time_ns
FROM exchanges
WHERE api_name NOT LIKE 'key %' AND (request_decoded = 'malformed' OR response_decoded = 'malformed')
GROUP BY api_name, api_version
