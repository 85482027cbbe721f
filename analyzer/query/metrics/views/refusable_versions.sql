-- Which versions may a broker have refused? One row per broker, API and version of requests that ended without a reply though none of
-- its offers seen, or not all of them, has this version; and of Produce below version 3, which brokers of Kafka 4 offer and refuse.
WITH ended AS (
    SELECT broker_address, broker_port, api_key, api_version
    FROM exchanges
    WHERE api_key <> api('ApiVersions')
        AND (status IN ('closed', 'abandoned') OR api_key = api('Produce') AND api_version < 3)
    GROUP BY broker_address, broker_port, api_key, api_version
),
offers AS (
    SELECT c.broker_address, c.broker_port, o.api_key, max(o.min_version) AS min_version, min(o.max_version) AS max_version
    FROM all_offered_versions AS o JOIN all_connections AS c ON c.connection = o.connection
    GROUP BY c.broker_address, c.broker_port, o.api_key
)
SELECT e.broker_address, e.broker_port, e.api_key, e.api_version
FROM ended AS e
LEFT JOIN offers AS o ON o.broker_address = e.broker_address AND o.broker_port = e.broker_port AND o.api_key = e.api_key
WHERE (e.api_version BETWEEN o.min_version AND o.max_version) IS NOT TRUE OR e.api_key = api('Produce') AND e.api_version < 3
