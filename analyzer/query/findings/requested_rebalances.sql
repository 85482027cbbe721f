-- severity: medium
-- rank: 35
-- when: group_news having count(DISTINCT generation) FILTER (WHERE event = 'join' AND group_type = 'classic') >= 4
-- says: group {group_id}[ ({of_application})] rebalances at the request of its own members, {rebalances|time|times}, for up to {longest_ns}
-- do: {advice}
-- look: kanalyze groups[ --group {group_id}]
-- explains: commit_failures, failing(REBALANCE_IN_PROGRESS|ILLEGAL_GENERATION)
-- delays: nobody
-- costs: rebalance
-- Nobody came, left or was thrown out: a member with its old id asked. Each costs what it lasts, not more: workers of Connect and
-- MirrorMaker ask for several at each start and whenever a connector is made, consumers whenever their topics change. So the time
-- counts that was lost within five minutes: 10 s, high from a minute on. Those of eager protocols stop all work, others part of it.
-- However short they are, 30 within five minutes that each begin in the second after the one before have no end: a leader of Connect that
-- lacks the newest of the config topic assigns nothing, and all join again at once. As many connectors may be made, but take their time.
WITH followed AS (
    SELECT *, begin_ns - lag(end_ns) OVER (PARTITION BY cluster, group_id ORDER BY begin_ns) <= s(1) AS is_again
    FROM classic_rebalances
    WHERE cause = 'rejoined' AND joined = 0 AND left_members = 0 AND lost_members = 0
),
asked AS (
    SELECT
        *,
        sum(end_ns - begin_ns) OVER recent AS lost_ns,
        count(*) OVER recent AS times,
        count(*) FILTER (WHERE is_again) OVER recent AS again
    FROM followed
    WINDOW recent AS (PARTITION BY cluster, group_id ORDER BY begin_ns RANGE BETWEEN s(300) PRECEDING AND CURRENT ROW)
),
judged AS (
    SELECT
        cluster,
        group_id,
        max(times) AS times,
        max(again) AS again,
        max(lost_ns) AS worst_ns,
        bool_or(protocol IN ('sessioned', 'compatible')) AS is_connect,
        min_by(exchange, (begin_ns, exchange)) AS evidence_first,
        max_by(exchange, (end_ns - begin_ns, exchange)) AS evidence_longest,
        min(begin_ns) AS first_time_ns,
        max(end_ns) AS last_time_ns
    FROM asked
    GROUP BY cluster, group_id
),
every AS (
    SELECT cluster, group_id, count(*) AS rebalances, max(end_ns - begin_ns) AS longest_ns
    FROM classic_rebalances
    GROUP BY cluster, group_id
)
SELECT
    j.group_id,
    a.of_application,
    e.rebalances,
    e.longest_ns,
    CASE
        WHEN j.is_connect AND j.again >= 30 THEN 'Each one is the end of the one before: a worker of Connect that leads without the newest of the config topic assigns nothing, and all join again at once. Its log says so: restart it, and give all workers of this group one config topic (config.storage.topic: one partition, compacted).'
        WHEN j.is_connect THEN 'Connectors or tasks are made, changed or restarted, or fail and begin anew, again and again: the log of the worker that leads says which (GET /connectors?expand=status on its REST port).'
        ELSE 'A member subscribes to other topics, topics that match its pattern come and go, or its code calls enforceRebalance: `kanalyze groups` shows which member asks for each rebalance, and why.'
    END AS advice,
    CASE WHEN j.worst_ns >= s(60) OR j.again >= 100 THEN 'high' END AS severity,
    CAST(j.worst_ns AS BIGINT) AS weight,
    j.evidence_first,
    j.evidence_longest,
    j.first_time_ns,
    j.last_time_ns
FROM judged AS j JOIN every AS e ON e.cluster = j.cluster AND e.group_id = j.group_id
LEFT JOIN group_applications AS a ON a.group_id = j.group_id
WHERE j.times >= 3 AND j.worst_ns >= s(10) OR j.again >= 30
