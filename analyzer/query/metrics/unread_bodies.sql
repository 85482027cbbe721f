-- Which message bodies could not be read, although they were captured? One row by API, version, side and reason: `newer` (a version or an
-- API that this release of kanalyze does not know) or `malformed` (not as its API and version say, replies with bytes left over too).
-- `throttle_told`: replies that tell a throttle time all the same. Of what the filters leave; the example is one exchange of each.
SELECT
    api_name,
    api_version,
    'request' AS side,
    CASE WHEN request_decoded = 'malformed' THEN 'malformed' ELSE 'newer' END AS reason,
    count(*) AS messages,
    count(DISTINCT concat(client_address, '|', coalesce(client_id, ''))) AS clients,
    CAST(0 AS BIGINT) AS throttle_told,
    min(request_time_ns) AS first_time_ns,
    min(exchange) AS example_exchange
FROM exchanges
WHERE request_decoded IN ('unsupported', 'malformed')
GROUP BY ALL
UNION ALL
SELECT
    api_name,
    api_version,
    'reply' AS side,
    CASE WHEN response_decoded = 'unsupported' THEN 'newer' ELSE 'malformed' END AS reason,
    count(*) AS messages,
    count(DISTINCT concat(client_address, '|', coalesce(client_id, ''))) AS clients,
    count(*) FILTER (WHERE throttle_time_ms IS NOT NULL) AS throttle_told,
    min(response_time_ns) AS first_time_ns,
    min(exchange) AS example_exchange
FROM exchanges
WHERE response_decoded IN ('unsupported', 'malformed', 'trailing')
GROUP BY ALL
ORDER BY messages DESC, api_name IS NULL, api_name, api_version, side, reason
