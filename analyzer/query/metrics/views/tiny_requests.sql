-- Clients that send many small Produce requests from one host, one row a client. Whose small batches hold ten records and more on
-- average has records that are small, or compress well: its batches would gain little if the client waited for more.
WITH filled AS (
    SELECT connection FROM produced WHERE bytes < 1000 GROUP BY connection HAVING sum(records) >= 10 * count(*)
),
seconds AS (
    SELECT
        who() AS who,
        client_address,
        CAST(floor(request_time_ns / 1e9) AS BIGINT) AS second,
        count(*) AS n,
        min(exchange) AS exchange,
        min(request_time_ns) AS time_ns
    FROM exchanges
    WHERE api_name = 'Produce' AND request_bytes < 1000 AND request_time_ns IS NOT NULL
        AND connection NOT IN (SELECT connection FROM filled)
    GROUP BY who(), client_address, CAST(floor(request_time_ns / 1e9) AS BIGINT)
)
SELECT
    who,
    max(n) * 1e0 AS worst_per_s,
    CAST(sum(n) AS BIGINT) AS requests,
    CAST(sum(n) AS BIGINT) AS weight,
    max_by(exchange, (n, exchange)) AS evidence_worst,
    min(time_ns) AS first_time_ns,
    max(time_ns) AS last_time_ns
FROM seconds
WHERE n >= 100
GROUP BY who
HAVING count(*) >= 2
