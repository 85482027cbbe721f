-- Groups whose members wait for the assignment that their leader should send: one row a group. A SyncGroup is answered as soon as the
-- leader's has come; from 5 s on it counts. Where the leader's own took as long, its coordinator or the way to it is slow. `leader`: who was told to lead, where a reply says so.
WITH waits AS (
    SELECT
        c.cluster,
        x.group_id,
        x.member_id,
        x.exchange,
        who(x) AS who,
        x.request_time_ns,
        x.response_time_ns,
        x.latency_ns
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_key = api('SyncGroup') AND x.latency_ns >= s(5) AND x.group_id IS NOT NULL AND is_client(x.role)
),
leaders AS (
    SELECT cluster, group_id, max_by(leader, (time_ns, exchange)) AS leader
    FROM group_news
    WHERE event = 'join' AND leader <> ''
    GROUP BY cluster, group_id
)
SELECT
    w.group_id,
    max(l.leader) AS leader,
    count(*) AS times,
    count(DISTINCT w.who) AS members,
    max(w.latency_ns) AS longest_ns,
    CASE WHEN max(w.latency_ns) >= s(60) THEN 'high' END AS severity,
    TRY_CAST(sum(w.latency_ns) AS BIGINT) AS weight,
    max_by(w.exchange, (w.latency_ns, w.exchange)) AS evidence_longest,
    min(w.request_time_ns) AS first_time_ns,
    max(w.response_time_ns) AS last_time_ns
FROM waits AS w LEFT JOIN leaders AS l ON l.cluster IS NOT DISTINCT FROM w.cluster AND l.group_id = w.group_id
GROUP BY w.cluster, w.group_id
HAVING NOT bool_or(coalesce(w.member_id = l.leader, false))
