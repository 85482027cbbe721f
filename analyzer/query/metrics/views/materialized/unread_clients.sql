-- Of which APIs could bodies of a client not be read, although they were captured? What these APIs tell of the client is then known in
-- part at best.
SELECT client_address, client_id, api_key
FROM exchanges
WHERE request_decoded IN ('unsupported', 'malformed') OR response_decoded IN ('unsupported', 'malformed', 'trailing')
GROUP BY client_address, client_id, api_key
