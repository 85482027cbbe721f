-- severity: info
-- rank: 18
-- when: exchange_sorts having max(request_bytes) > mb(10) OR max(response_bytes) > mb(10)
-- says: {who} has requests or replies of up to {greatest_bytes} ({api_name}, {messages} over 10 MB)
-- do: Messages this large delay everything behind them on the connection: check max.request.size (producer) and fetch.max.bytes (consumer).
-- look: kanalyze clients[ --client {who}]
-- delays: nobody
SELECT
    who() AS who,
    api_name,
    max(greatest(coalesce(request_bytes, 0), coalesce(response_bytes, 0))) AS greatest_bytes,
    count(*) AS messages,
    max(greatest(coalesce(request_bytes, 0), coalesce(response_bytes, 0))) AS weight,
    max_by(exchange, (greatest(coalesce(request_bytes, 0), coalesce(response_bytes, 0)), exchange)) AS evidence_greatest,
    min(coalesce(request_time_ns, response_time_ns)) AS first_time_ns,
    max(coalesce(request_time_ns, response_time_ns)) AS last_time_ns
FROM exchanges
WHERE (request_bytes > mb(10) OR response_bytes > mb(10)) AND api_name IS NOT NULL
GROUP BY who(), api_name
