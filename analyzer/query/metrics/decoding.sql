-- Which messages were read, and how far, by API and version? Never filtered; `example_exchange` is one of each sort.
SELECT
    api_name,
    api_version,
    status,
    request_decoded,
    response_decoded,
    count(*) AS count,
    min(exchange) AS example_exchange
FROM all_exchanges
GROUP BY ALL
ORDER BY count DESC, api_name, api_version, status, request_decoded, response_decoded
