-- Which APIs were asked in which versions on each connection, by client id: one pass over all exchanges for what judges versions.
SELECT connection, client_address, client_id, api_key, api_name, api_version, max(status <> 'orphan_reply') AS has_request
FROM all_exchanges
GROUP BY connection, client_address, client_id, api_key, api_name, api_version
