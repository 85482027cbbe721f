-- How many requests of clients failed with which code? One row per API and code: `requests` (of which one may hold the
-- code for many partitions), by `clients`. What is expected in normal operation is left out.
SELECT
    coalesce(x.api_name, 'SASL token') AS api_name,
    e.code,
    count(DISTINCT e.exchange) AS requests,
    count(DISTINCT who(x)) AS clients
FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
WHERE e.expected IS NOT TRUE AND is_client(x.role)
GROUP BY coalesce(x.api_name, 'SASL token'), e.code
ORDER BY requests DESC, api_name, code
