-- severity: medium
-- rank: 44
-- when: exchanges having count(*) FILTER (WHERE kind = 'fetch_now') >= 30
-- says: {who} fetches in a tight loop, up to {worst_per_s}: {replies|empty reply|empty replies} without a wait for data
-- do: Its fetch.max.wait.ms or fetch.min.bytes is 0, or the client fetches in a loop: set both above 0, so that the broker holds the request until there is data.
-- look: kanalyze exchanges[ --client {who}] --api Fetch
-- Twenty a second for half a second; information where it lasted less than three seconds in all, as when leaders move.
WITH halves AS (
    SELECT
        connection,
        coalesce(max(client_id), max(client_address)) AS who,
        CAST(floor(response_time_ns / 5e8) AS BIGINT) AS half_second,
        count(*) AS n,
        min(exchange) AS exchange,
        min(response_time_ns) AS time_ns
    FROM exchanges
    WHERE api_key = 1 AND kind = 'fetch_now' AND coalesce(role, 'client') = 'client' AND response_time_ns IS NOT NULL
    GROUP BY connection, CAST(floor(response_time_ns / 5e8) AS BIGINT)
)
SELECT
    who,
    connection,
    max(n) * 2e0 AS worst_per_s,
    CAST(sum(n) AS BIGINT) AS replies,
    CASE WHEN count(*) >= 6 THEN 'medium' ELSE 'info' END AS severity,
    CAST(sum(n) AS BIGINT) AS weight,
    max_by(exchange, (n, exchange)) AS evidence_worst,
    min(time_ns) AS first_time_ns,
    max(time_ns) AS last_time_ns
FROM halves
WHERE n >= 10
GROUP BY who, connection
HAVING sum(n) >= 30
