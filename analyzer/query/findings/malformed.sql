-- severity: medium
-- rank: 60
-- when: exchanges having bool_or(request_decoded = 'malformed' OR response_decoded = 'malformed')
-- says: {messages|message|messages} ({api_name} v{api_version}) could not be decoded as the Kafka protocol defines
-- do: The sender is not an Apache Kafka client or broker, or this is not Kafka at all: `kanalyze show` shows where decoding fails.
-- look: kanalyze exchanges --api {api_name}
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
