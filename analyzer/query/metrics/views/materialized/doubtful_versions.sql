-- Which versions of its requests a connection may not have been offered: what every offer has is within each connection's, and nearly
-- always all requests are. Offers with all that anybody asked need no look.
WITH always AS (
    SELECT o.api_key, max(o.min_version) AS min_version, min(o.max_version) AS max_version
    FROM (
        SELECT api_key, min(api_version) AS least, max(api_version) AS greatest FROM asked_versions GROUP BY api_key
    ) AS a
    JOIN offered_versions AS o ON o.api_key = a.api_key AND (a.least < o.min_version OR a.greatest > o.max_version)
    GROUP BY o.api_key
)
SELECT x.connection, x.api_key, x.api_version
FROM asked_versions AS x JOIN always AS a ON a.api_key = x.api_key
WHERE x.api_key <> api('ApiVersions') AND (x.api_version < a.min_version OR x.api_version > a.max_version)
GROUP BY x.connection, x.api_key, x.api_version
