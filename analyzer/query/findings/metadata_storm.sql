-- severity: medium
-- rank: 42
-- when: exchanges having count(*) FILTER (WHERE api_name = 'Metadata') >= 30
-- says: {who} refreshes its metadata up to {worst_per_s} over 30 s on one connection ({requests|Metadata request|Metadata requests})
-- do: A topic that does not exist, or a partition without a leader, makes it refresh all the time: look at its errors.
-- look: kanalyze errors[ --client {who}]
-- 30 in 30 s, in at least 20 different seconds: a burst at the start of a client is none.
WITH asked AS (
    SELECT
        connection,
        coalesce(client_id, client_address) AS who,
        exchange,
        request_time_ns,
        count(*) OVER (
            PARTITION BY connection ORDER BY request_time_ns RANGE BETWEEN 30000000000 PRECEDING AND CURRENT ROW
        ) AS within
    FROM exchanges
    WHERE api_name = 'Metadata' AND request_time_ns IS NOT NULL AND coalesce(role, 'client') = 'client'
)
SELECT
    who,
    connection,
    count(*) AS requests,
    max(within) / 30e0 AS worst_per_s,
    count(*) AS weight,
    max_by(exchange, (within, exchange)) AS evidence_worst,
    min(request_time_ns) AS first_time_ns,
    max(request_time_ns) AS last_time_ns
FROM asked
GROUP BY who, connection
HAVING max(within) >= 30 AND count(DISTINCT CAST(floor(request_time_ns / 1e9) AS BIGINT)) >= 20
