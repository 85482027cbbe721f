-- severity: medium
-- rank: 44
-- when: exchange_sorts having sum(exchanges) FILTER (WHERE kind = 'fetch_now' AND is_client) >= 30
-- says: {who} fetches in a tight loop, up to {worst_per_s}: {replies|empty reply|empty replies} without a wait for data[, {place}]
-- do: {advice}
-- look: kanalyze clients[ --client {who}]
-- delays: nobody
-- Thirty in all, in seconds in which one connection has twenty or more; information where these are fewer than three, as when
-- leaders move. Told are all empty replies without a wait of the client. A broker answers a position beyond its end at once, as a new leader
-- does until its followers have told it how far they are; the replies of a session need not name the partition.
WITH beyond AS (
    SELECT exchange FROM fetch_positions WHERE fetch_offset > coalesce(new_end_offset, end_offset) GROUP BY exchange
),
seconds AS (
    SELECT
        x.connection,
        who(x) AS who,
        CAST(floor(x.request_time_ns / 1e9) AS BIGINT) AS second,
        count(*) AS n,
        count(b.exchange) AS beyond,
        max(x.max_wait_ms) AS max_wait_ms,
        min(x.exchange) AS exchange,
        min(x.response_time_ns) AS first_ns,
        max(x.response_time_ns) AS last_ns
    FROM exchanges AS x LEFT JOIN beyond AS b ON b.exchange = x.exchange
    WHERE x.api_key = api('Fetch') AND x.kind = 'fetch_now' AND is_client(x.role) AND x.request_time_ns IS NOT NULL
    GROUP BY x.connection, who(x), CAST(floor(x.request_time_ns / 1e9) AS BIGINT)
)
SELECT
    who,
    max_by(connection, (n, connection)) AS connection,
    max(n) * 1e0 AS worst_per_s,
    CAST(sum(n) AS BIGINT) AS replies,
    CASE WHEN sum(beyond) * 2 >= sum(n) THEN 'at a position beyond the end' END AS place,
    CASE
        WHEN sum(beyond) * 2 >= sum(n) THEN 'The position of the client is beyond the end (high watermark) of the broker, as it happens after a leader moved. The broker answers at once until its followers have caught up: find out what moved the leader, and check the followers. The client is not the cause.'
        WHEN max(max_wait_ms) = 0 THEN 'Its fetch.max.wait.ms is 0: set it above 0, so that the broker holds the request until there is data.'
        ELSE 'Its fetch.min.bytes is 0, the client fetches in a loop, or its position lies beyond the end, as after a leader moved: set fetch.max.wait.ms and fetch.min.bytes above 0, so that the broker holds the request until there is data.'
    END AS advice,
    CASE WHEN count(DISTINCT second) FILTER (WHERE n >= 20) >= 3 THEN 'medium' ELSE 'info' END AS severity,
    CAST(sum(n) AS BIGINT) AS weight,
    max_by(exchange, (n, exchange)) AS evidence_worst,
    min(first_ns) FILTER (WHERE n >= 20) AS first_time_ns,
    max(last_ns) FILTER (WHERE n >= 20) AS last_time_ns
FROM seconds JOIN connections AS c USING (connection)
GROUP BY who, c.cluster
HAVING sum(n) FILTER (WHERE n >= 20) >= 30
