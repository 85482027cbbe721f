-- Connections on which metadata is asked for all the time, one row a client and connection.
-- 30 in 30 s, in at least 20 different seconds: a burst at the start of a client is none. Of a shorter capture 10 different seconds
-- will do, where each had three and all the time until the end was so. `topic`: what most of these requests failed for; `name`: the error that the client
-- got most often; UNREAD, where no reply was read to its end.
WITH asked AS (
    SELECT
        connection,
        who() AS who,
        exchange,
        request_time_ns,
        response_decoded = 'full' AS is_read,
        count(*) OVER (
            PARTITION BY connection ORDER BY request_time_ns RANGE BETWEEN s(30) PRECEDING AND CURRENT ROW
        ) AS within
    FROM exchanges
    WHERE api_name = 'Metadata' AND request_time_ns IS NOT NULL AND is_client(role)
),
failed AS (
    SELECT
        x.connection,
        count(DISTINCT e.exchange) AS times,
        CASE WHEN min(e.topic) = max(e.topic) THEN max(e.topic) END AS topic
    FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
    WHERE x.api_name = 'Metadata'
    GROUP BY x.connection
),
-- What a client was refused most often, of the errors that make it ask for metadata.
refused AS (
    SELECT who, max_by(name, (times, name)) AS name
    FROM (
        SELECT who(x) AS who, e.name, count(*) AS times
        FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
        WHERE x.api_name IN ('Metadata', 'Produce', 'Fetch', 'ListOffsets')
        GROUP BY who(x), e.name
    ) AS counted
    WHERE times >= 10
    GROUP BY who
)
SELECT
    a.who,
    CASE WHEN max(f.times) >= count(*) / 2 THEN max(f.topic) END AS topic,
    CASE WHEN bool_or(a.is_read) THEN max(r.name) ELSE coalesce(max(r.name), 'UNREAD') END AS name,
    a.connection,
    count(*) AS requests,
    max(within) * 1e9 / least(30e9, greatest(max(request_time_ns) - min(request_time_ns), 1)) AS worst_per_s,
    CAST(least(30e9, max(request_time_ns) - min(request_time_ns)) AS BIGINT) AS over_ns,
    count(*) AS weight,
    max_by(exchange, (within, exchange)) AS evidence_worst,
    min(request_time_ns) AS first_time_ns,
    max(request_time_ns) AS last_time_ns
FROM asked AS a
LEFT JOIN failed AS f ON f.connection = a.connection
LEFT JOIN refused AS r ON r.who = a.who
GROUP BY a.who, a.connection
HAVING max(within) >= 30 AND (
    count(DISTINCT CAST(floor(request_time_ns / 1e9) AS BIGINT)) >= 20
    OR (
        count(DISTINCT CAST(floor(request_time_ns / 1e9) AS BIGINT)) >= 10
        AND count(*) >= 3 * count(DISTINCT CAST(floor(request_time_ns / 1e9) AS BIGINT))
        AND max(request_time_ns) >= (SELECT max(last_time_ns) FROM connections) - s(2)
    )
)
