-- Elections of a controller that do not end: one row a cluster and election. Twenty Vote requests over 15 s, with no pause of 10 s: who
-- is elected is asked for no vote any more, and an election takes a handful. Two candidates at least: one alone may be cut off from a
-- quorum that is well.
WITH asked AS (
    SELECT
        coalesce(c.cluster, '') AS cluster,
        x.exchange,
        x.client_address,
        x.request_time_ns,
        x.request_time_ns - lag(x.request_time_ns) OVER (
            PARTITION BY coalesce(c.cluster, '') ORDER BY x.request_time_ns, x.exchange
        ) AS pause_ns
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_key = api('Vote') AND x.request_time_ns IS NOT NULL
),
rounds AS (
    SELECT *, sum(CASE WHEN pause_ns > s(10) THEN 1 ELSE 0 END) OVER (
        PARTITION BY cluster ORDER BY request_time_ns, exchange ROWS UNBOUNDED PRECEDING
    ) AS round
    FROM asked
)
SELECT
    count(*) AS times,
    max(request_time_ns) - min(request_time_ns) AS lasted_ns,
    count(DISTINCT client_address) AS candidates,
    min(client_address) AS client_address,
    count(*) AS weight,
    min_by(exchange, (request_time_ns, exchange)) AS evidence_first,
    max_by(exchange, (request_time_ns, exchange)) AS evidence_last,
    min(request_time_ns) AS first_time_ns,
    max(request_time_ns) AS last_time_ns
FROM rounds
GROUP BY cluster, round
HAVING count(*) >= 20 AND count(DISTINCT client_address) >= 2 AND max(request_time_ns) - min(request_time_ns) >= s(15)
