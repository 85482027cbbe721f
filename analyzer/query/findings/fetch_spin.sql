-- severity: medium
-- rank: 44
-- when: exchanges having count(*) FILTER (WHERE kind = 'fetch_now') >= 30
-- says: {who} fetches in a tight loop, up to {worst_per_s}: {replies|empty reply|empty replies} without a wait for data
-- do: Its fetch.max.wait.ms or fetch.min.bytes is 0, or the client fetches in a loop: set both above 0, so that the broker holds the request until there is data.
-- look: kanalyze clients[ --client {who}]
-- Thirty in all, in seconds in which one connection has twenty or more; information where these are fewer than three, as when
-- leaders move. Told are all empty replies without a wait of the client.
WITH seconds AS (
    SELECT
        connection,
        who() AS who,
        CAST(floor(request_time_ns / 1e9) AS BIGINT) AS second,
        count(*) AS n,
        min(exchange) AS exchange,
        min(response_time_ns) AS first_ns,
        max(response_time_ns) AS last_ns
    FROM exchanges
    WHERE api_key = api('Fetch') AND kind = 'fetch_now' AND is_client(role) AND request_time_ns IS NOT NULL
    GROUP BY connection, who(), CAST(floor(request_time_ns / 1e9) AS BIGINT)
)
SELECT
    who,
    max_by(connection, (n, connection)) AS connection,
    max(n) * 1e0 AS worst_per_s,
    CAST(sum(n) AS BIGINT) AS replies,
    CASE WHEN count(DISTINCT second) FILTER (WHERE n >= 20) >= 3 THEN 'medium' ELSE 'info' END AS severity,
    CAST(sum(n) AS BIGINT) AS weight,
    max_by(exchange, (n, exchange)) AS evidence_worst,
    min(first_ns) FILTER (WHERE n >= 20) AS first_time_ns,
    max(last_ns) FILTER (WHERE n >= 20) AS last_time_ns
FROM seconds
GROUP BY who
HAVING sum(n) FILTER (WHERE n >= 20) >= 30
