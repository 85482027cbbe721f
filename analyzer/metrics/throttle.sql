-- Who is throttled, in which API, by how much? `throttle_time_ms` is the sum, `unknown` counts replies that do not tell.
-- Windows [reply, + throttle time] of a connection are united; `share` (0 to 1) is that of the client's worst connection
-- of its life in the capture, over all its APIs, `throttled_ns` the time behind it: neither is ever a sum of connections.
WITH throttled_hosts AS (
    SELECT client_address FROM exchanges WHERE throttle_time_ms > 0 GROUP BY client_address
),
talk AS (
    SELECT
        connection,
        client_address,
        client_id,
        principal,
        api_name,
        count(*) AS replies,
        count(*) FILTER (WHERE throttle_time_ms IS NULL) AS unknown,
        count(*) FILTER (WHERE throttle_time_ms > 0) AS throttled,
        sum(CAST(throttle_time_ms AS BIGINT)) FILTER (WHERE throttle_time_ms > 0) AS throttle_time_ms,
        max(throttle_time_ms) AS max_throttle_time_ms
    FROM exchanges
    WHERE response_time_ns IS NOT NULL AND client_address IN (SELECT client_address FROM throttled_hosts)
    GROUP BY ALL
),
windows AS (
    SELECT
        e.connection,
        c.last_time_ns - c.first_time_ns AS life_ns,
        e.response_time_ns AS begins,
        e.response_time_ns
            + least(CAST(e.throttle_time_ms AS BIGINT) * 1000000, c.last_time_ns - e.response_time_ns) AS ends
    FROM exchanges AS e JOIN connections AS c ON c.connection = e.connection
    WHERE e.throttle_time_ms > 0 AND e.response_time_ns IS NOT NULL
),
ordered AS (
    SELECT
        *,
        max(ends) OVER (
            PARTITION BY connection ORDER BY begins, ends ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS covered
    FROM windows
),
muted AS (
    SELECT
        connection,
        max(life_ns) AS life_ns,
        CAST(sum(greatest(ends - greatest(begins, coalesce(covered, begins)), 0)) AS BIGINT) AS throttled_ns
    FROM ordered
    GROUP BY connection
),
joined AS (
    SELECT
        t.*,
        m.throttled_ns,
        CASE WHEN m.life_ns > 0 THEN CAST(m.throttled_ns AS DOUBLE) / m.life_ns END AS share
    FROM talk AS t LEFT JOIN muted AS m ON m.connection = t.connection
),
worst AS (
    SELECT
        *,
        max(share) OVER (PARTITION BY client_address, client_id, principal) AS client_share,
        max(throttled_ns) OVER (PARTITION BY client_address, client_id, principal) AS client_throttled_ns
    FROM joined
)
SELECT
    client_address,
    client_id,
    principal,
    api_name,
    CAST(sum(replies) AS BIGINT) AS replies,
    CAST(sum(unknown) AS BIGINT) AS unknown,
    CAST(sum(throttled) AS BIGINT) AS throttled,
    CAST(sum(throttle_time_ms) AS BIGINT) AS throttle_time_ms,
    max(max_throttle_time_ms) AS max_throttle_time_ms,
    max(client_throttled_ns) AS throttled_ns,
    max(client_share) AS share
FROM worst
GROUP BY ALL
HAVING sum(throttled) > 0
ORDER BY throttle_time_ms DESC, client_id, client_address, api_name
