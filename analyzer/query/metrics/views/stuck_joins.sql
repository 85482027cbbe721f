-- In which groups did a member wait long to join, and for whom (`stuck`)? One row per group: its longest wait, `waited_ns`, from 10 s on.
-- Suspect: a member whose heartbeats said "rebalance" during the wait, and that asked to join only at its end, or never. A member
-- that still waits when the capture ends has waited until then. Of a member alone, without another one or a suspect, it is not known
-- for whom it waits (one that is gone, or group.initial.rebalance.delay.ms): medium, or information while it still waits. `paused`: that the members stopped to consume, as they do before they join where the assignor is an eager one (KIP-429).
-- `name`: for what the group turned others away meanwhile: it waits for each to whom it gave a member id, for as long as a session.
-- `api_name`: what members still waited for when their connections ended, three of them at least: the group waits for the dead as well.
WITH joins AS (
    SELECT cluster, group_id, exchange, connection, begin_ns, time_ns, CAST(NULL AS STRING) AS so_far
    FROM group_news
    WHERE group_type = 'classic' AND event = 'join' AND error_code = error('NONE')
    UNION ALL
    SELECT c.cluster, x.group_id, x.exchange, x.connection, x.request_time_ns, u.until_ns, 'until the capture ended'
    FROM exchanges AS x
    JOIN connections AS c ON c.connection = x.connection
    JOIN pending_requests AS u ON u.exchange = x.exchange
    WHERE x.api_key = api('JoinGroup') AND x.group_id IS NOT NULL AND is_client(x.role)
),
longest AS (
    SELECT *
    FROM joins
    WHERE time_ns - begin_ns > s(10)
    QUALIFY row_number() OVER (PARTITION BY cluster, group_id ORDER BY time_ns - begin_ns DESC, exchange) = 1
),
-- What members did meanwhile: a heartbeat has a row only where its reply has news.
meanwhile AS (
    SELECT w.cluster, w.group_id, e.connection <> w.connection AS is_other, e.event, e.protocol
    FROM longest AS w JOIN group_news AS e
        ON e.cluster IS NOT DISTINCT FROM w.cluster AND e.group_id = w.group_id AND e.begin_ns BETWEEN w.begin_ns AND w.time_ns
    UNION ALL
    SELECT w.cluster, w.group_id, x.connection <> w.connection, 'commit', NULL
    FROM longest AS w
    JOIN exchanges AS x ON x.group_id = w.group_id AND x.request_time_ns BETWEEN w.begin_ns AND w.time_ns
    JOIN connections AS c ON c.connection = x.connection AND c.cluster IS NOT DISTINCT FROM w.cluster
    WHERE x.api_key = api('OffsetCommit')
),
company AS (
    SELECT
        cluster,
        group_id,
        bool_or(is_other) AS has_others,
        bool_and(protocol IN ('range', 'roundrobin', 'sticky')) FILTER (WHERE event = 'join') AS is_eager
    FROM meanwhile
    GROUP BY cluster, group_id
),
told AS (
    SELECT w.cluster, w.group_id, w.begin_ns, w.time_ns, e.client_id, e.member_id, min(e.begin_ns) AS told_ns
    FROM longest AS w JOIN group_news AS e
        ON e.cluster IS NOT DISTINCT FROM w.cluster AND e.group_id = w.group_id AND e.event = 'heartbeat'
        AND e.error_code = error('REBALANCE_IN_PROGRESS') AND e.begin_ns BETWEEN w.begin_ns AND w.time_ns
    GROUP BY w.cluster, w.group_id, w.begin_ns, w.time_ns, e.client_id, e.member_id
),
joined AS (
    SELECT cluster, group_id, member_id, begin_ns FROM group_news WHERE event = 'join'
),
suspects AS (
    SELECT t.cluster, t.group_id, max_by(coalesce(t.client_id, t.member_id), t.told_ns) AS stuck
    FROM told AS t LEFT JOIN joined AS j
        ON j.cluster IS NOT DISTINCT FROM t.cluster AND j.group_id = t.group_id AND j.member_id = t.member_id
        AND j.begin_ns >= t.told_ns AND j.begin_ns < t.time_ns - s(1)
    WHERE j.member_id IS NULL
    GROUP BY t.cluster, t.group_id
),
refused AS (
    SELECT DISTINCT w.cluster, w.group_id
    FROM longest AS w JOIN group_news AS e
        ON e.cluster IS NOT DISTINCT FROM w.cluster AND e.group_id = w.group_id AND e.event = 'join'
        AND e.error_code = error('GROUP_MAX_SIZE_REACHED') AND e.begin_ns BETWEEN w.begin_ns AND w.time_ns
),
ended AS (
    SELECT w.cluster, w.group_id, x.api_name
    FROM longest AS w
    JOIN exchanges AS x ON x.group_id = w.group_id
    JOIN connections AS c ON c.connection = x.connection AND c.cluster IS NOT DISTINCT FROM w.cluster
    WHERE x.api_key = api('JoinGroup') AND x.status = 'closed' AND c.close_time_ns BETWEEN w.begin_ns AND w.time_ns
    GROUP BY w.cluster, w.group_id, x.api_name
    HAVING count(*) >= 3
)
SELECT
    w.group_id,
    d.api_name,
    a.of_application,
    w.time_ns - w.begin_ns AS waited_ns,
    w.so_far,
    s.stuck,
    CASE WHEN r.group_id IS NOT NULL THEN 'GROUP_MAX_SIZE_REACHED' END AS name,
    CASE WHEN s.stuck IS NOT NULL OR o.has_others THEN 'the other members waited' END AS held,
    CASE WHEN (s.stuck IS NOT NULL OR o.has_others) AND o.is_eager THEN 'and none of them consumed' END AS paused,
    CASE WHEN s.stuck IS NOT NULL
        THEN 'The late member was asked to rejoin (REBALANCE_IN_PROGRESS in a heartbeat reply) and did not poll: check what it does between two polls (max.poll.interval.ms).'
        ELSE 'See which member was late or gone: one that does not poll is waited for until max.poll.interval.ms, one that does not answer until session.timeout.ms.'
    END AS advice,
    CASE WHEN s.stuck IS NULL AND o.has_others IS NOT TRUE THEN CASE WHEN w.so_far IS NULL THEN 'medium' ELSE 'info' END END AS severity,
    w.time_ns - w.begin_ns AS weight,
    w.exchange AS evidence_join,
    w.begin_ns AS first_time_ns,
    w.time_ns AS last_time_ns
FROM longest AS w LEFT JOIN suspects AS s ON s.cluster IS NOT DISTINCT FROM w.cluster AND s.group_id = w.group_id
LEFT JOIN refused AS r ON r.cluster IS NOT DISTINCT FROM w.cluster AND r.group_id = w.group_id
LEFT JOIN ended AS d ON d.cluster IS NOT DISTINCT FROM w.cluster AND d.group_id = w.group_id
LEFT JOIN company AS o ON o.cluster IS NOT DISTINCT FROM w.cluster AND o.group_id = w.group_id
LEFT JOIN group_applications AS a ON a.group_id = w.group_id
