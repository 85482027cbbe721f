-- What do brokers offer, or answer, that no release has which kanalyze knows? One row for each API, that of the least key first. Never filtered;
-- `release` is the newest of these releases, `known_version` its newest version of the API, null where it has none of this key.
WITH known AS (
    SELECT api_key, max(api_name) AS api_name, max(coalesce(refused_from - 1, accepted_to)) AS known_version
    FROM release_versions
    GROUP BY api_key
),
-- What a broker answers it has, also where its offer is in a version of ApiVersions that nobody here can read. Each connection has an
-- offer of each API, and hardly one is of interest.
offers AS (
    SELECT o.connection, o.exchange, o.api_key, o.max_version
    FROM all_offered_versions AS o LEFT JOIN known AS k ON k.api_key = o.api_key
    WHERE k.api_key IS NULL OR o.max_version > k.known_version
    UNION ALL
    SELECT connection, exchange, api_key, api_version AS max_version
    FROM all_exchanges
    WHERE response_decoded = 'unsupported' AND status = 'answered' AND api_key >= 0
        AND error_code IS DISTINCT FROM error('UNSUPPORTED_VERSION')
),
newest AS (
    SELECT max_by(release, place) AS release FROM kafka_releases
)
SELECT
    n.release,
    f.api_key,
    k.api_name,
    CAST(k.known_version AS SMALLINT) AS known_version,
    max(f.max_version) AS max_version,
    min(c.broker_address || ':' || CAST(c.broker_port AS STRING)) AS broker,
    count(DISTINCT c.broker_address || ':' || CAST(c.broker_port AS STRING)) AS brokers,
    min(f.exchange) AS example_exchange
FROM offers AS f
JOIN all_connections AS c ON c.connection = f.connection
LEFT JOIN known AS k ON k.api_key = f.api_key
CROSS JOIN newest AS n
WHERE k.api_key IS NULL OR f.max_version > k.known_version
GROUP BY n.release, f.api_key, k.api_name, k.known_version
ORDER BY f.api_key
