-- Elections of a controller that do not end: one row a cluster and election. Twenty Vote requests over 15 s, with no pause of 10 s: who
-- is elected is asked for no vote any more, and an election takes a handful. Two candidates at least: one alone may be cut off from a
-- quorum that is well. Or elections that end, and begin again: one row a cluster, with their number (`elections`), five at least, each
-- within two minutes of the one before; a restart of all controllers in turn has fewer.
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
),
elections AS (
    SELECT
        cluster,
        round,
        count(*) AS times,
        min(request_time_ns) AS first_time_ns,
        max(request_time_ns) AS last_time_ns,
        count(DISTINCT client_address) AS candidates,
        list(DISTINCT client_address) AS addresses,
        min(client_address) AS client_address,
        min_by(exchange, (request_time_ns, exchange)) AS evidence_first,
        max_by(exchange, (request_time_ns, exchange)) AS evidence_last
    FROM rounds
    GROUP BY cluster, round
),
in_vain AS (
    SELECT *, times >= 20 AND candidates >= 2 AND last_time_ns - first_time_ns >= s(15) AS is_in_vain FROM elections
),
-- Those that ended, with pauses of two minutes at most between them, are a series.
spaced AS (
    SELECT *, coalesce(first_time_ns - lag(last_time_ns) OVER own > s(120), true) AS is_first
    FROM in_vain
    WHERE NOT is_in_vain AND times >= 2
    WINDOW own AS (PARTITION BY cluster ORDER BY first_time_ns, round)
),
series AS (
    SELECT *, sum(CASE WHEN is_first THEN 1 ELSE 0 END) OVER (PARTITION BY cluster ORDER BY first_time_ns, round) AS series
    FROM spaced
)
SELECT
    times, CAST(NULL AS BIGINT) AS elections, last_time_ns - first_time_ns AS lasted_ns, candidates, client_address, times AS weight,
    evidence_first, evidence_last, first_time_ns, last_time_ns
FROM in_vain
WHERE is_in_vain
UNION ALL
SELECT
    CAST(sum(times) AS BIGINT), count(*), max(last_time_ns) - min(first_time_ns), len(list_distinct(flatten(list(addresses)))),
    min(client_address), count(*), min_by(evidence_first, (first_time_ns, evidence_first)),
    max_by(evidence_last, (last_time_ns, evidence_last)), min(first_time_ns), max(last_time_ns)
FROM series
GROUP BY cluster, series
HAVING count(*) >= 5
