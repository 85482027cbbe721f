-- Members that were removed because nothing was heard of them, one row a client and group.
-- Silence of the session timeout at least, and then one of two: its next request is told that there is no such member, or the others
-- were made to rebalance when the time was over and it never came back. Where its session timeout is not known (the group began
-- before the capture, or is of the newer protocol): five seconds and three times its own longest pause before, until the others
-- rebalanced or got partitions, though nobody came or left meanwhile. Only where the connection lost no bytes in the capture:
-- silence must be the member's own.
WITH sessions AS (
    SELECT cluster, group_id, client_id, client_address, max(session_timeout_ms) AS session_timeout_ms
    FROM group_events
    WHERE session_timeout_ms > 0 AND event = 'join' AND group_type = 'classic'
    GROUP BY cluster, group_id, client_id, client_address
),
refused AS (
    SELECT group_id, client_id, client_address
    FROM exchanges
    WHERE error_code IN (error('UNKNOWN_MEMBER_ID', 'FENCED_MEMBER_EPOCH')) AND group_id IS NOT NULL
    GROUP BY group_id, client_id, client_address
),
steps AS (
    SELECT
        x.exchange,
        x.connection,
        x.group_id,
        x.client_id,
        x.client_address,
        x.error_code,
        x.request_time_ns,
        lag(x.request_time_ns) OVER (
            PARTITION BY x.group_id, x.client_id, x.client_address ORDER BY x.request_time_ns, x.exchange
        ) AS earlier_ns
    FROM exchanges AS x JOIN refused AS r
        ON r.group_id = x.group_id AND r.client_id IS NOT DISTINCT FROM x.client_id AND r.client_address = x.client_address
    WHERE x.request_time_ns IS NOT NULL
),
told_so AS (
    SELECT
        who(s) AS who,
        s.client_address,
        s.group_id,
        t.session_timeout_ms,
        s.request_time_ns - s.earlier_ns AS silence_ns,
        s.exchange,
        s.earlier_ns AS begin_ns,
        s.request_time_ns AS time_ns,
        CAST(NULL AS STRING) AS back
    FROM steps AS s
    JOIN sessions AS t
        ON t.group_id = s.group_id AND t.client_id IS NOT DISTINCT FROM s.client_id AND t.client_address = s.client_address
    JOIN connections AS c ON c.connection = s.connection
    WHERE s.error_code IN (error('UNKNOWN_MEMBER_ID', 'FENCED_MEMBER_EPOCH')) AND c.client_gaps = 0
        AND s.request_time_ns - s.earlier_ns >= CAST(t.session_timeout_ms AS BIGINT) * ms(1)
),
-- Members whose last request of any sort was long before the end, and who did not leave.
last_steps AS (
    SELECT
        t.cluster,
        t.group_id,
        t.client_id,
        t.client_address,
        t.session_timeout_ms,
        max(x.request_time_ns) AS last_ns,
        max_by(x.exchange, (x.request_time_ns, x.exchange)) AS exchange,
        max_by(x.connection, (x.request_time_ns, x.exchange)) AS connection
    FROM sessions AS t JOIN exchanges AS x
        ON x.group_id = t.group_id AND x.client_id IS NOT DISTINCT FROM t.client_id AND x.client_address = t.client_address
    WHERE x.api_key IN (api('OffsetCommit', 'JoinGroup', 'Heartbeat', 'SyncGroup')) AND x.error_code = error('NONE')
    GROUP BY t.cluster, t.group_id, t.client_id, t.client_address, t.session_timeout_ms
),
silent AS (
    SELECT l.*
    FROM last_steps AS l
    JOIN connections AS c ON c.connection = l.connection
    LEFT JOIN group_events AS e
        ON e.group_id = l.group_id AND e.client_id IS NOT DISTINCT FROM l.client_id
        AND e.client_address = l.client_address AND e.event IN ('leave', 'join') AND e.begin_ns > l.last_ns
    CROSS JOIN time_range AS r
    WHERE e.exchange IS NULL AND c.client_gaps = 0
        AND r.last_time_ns - l.last_ns >= CAST(l.session_timeout_ms AS BIGINT) * ms(1)
),
-- The first rebalance of the others after that; a session ends with its timeout, and is looked at now and then.
expired AS (
    SELECT
        who(s) AS who,
        s.client_address,
        s.group_id,
        s.session_timeout_ms,
        min(e.begin_ns) - s.last_ns AS silence_ns,
        s.exchange,
        s.last_ns AS begin_ns,
        min(e.begin_ns) AS time_ns,
        'it has not rejoined' AS back
    FROM silent AS s JOIN group_events AS e
        ON e.cluster IS NOT DISTINCT FROM s.cluster AND e.group_id = s.group_id AND e.begin_ns > s.last_ns
        AND e.event = 'join' AND e.error_code = error('NONE')
    GROUP BY s.client_id, s.client_address, s.group_id, s.session_timeout_ms, s.exchange, s.last_ns
    HAVING min(e.begin_ns) - s.last_ns BETWEEN CAST(s.session_timeout_ms AS BIGINT) * ms(1)
        AND CAST(s.session_timeout_ms AS BIGINT) * ms(1) + s(10)
),
-- Heartbeats and commits of members whose session timeout is not known.
beats AS (
    SELECT
        x.group_id,
        x.member_id,
        x.client_id,
        x.client_address,
        x.exchange,
        x.connection,
        x.request_time_ns,
        x.request_time_ns - lag(x.request_time_ns) OVER (
            PARTITION BY x.group_id, x.member_id ORDER BY x.request_time_ns, x.exchange
        ) AS pause_ns
    FROM exchanges AS x
    LEFT JOIN sessions AS t
        ON t.group_id = x.group_id AND t.client_id IS NOT DISTINCT FROM x.client_id AND t.client_address = x.client_address
    WHERE x.api_key IN (api('OffsetCommit', 'JoinGroup', 'Heartbeat', 'SyncGroup', 'ConsumerGroupHeartbeat'))
        AND x.member_id <> '' AND no_error(x.error_code) AND x.request_time_ns IS NOT NULL
        AND t.group_id IS NULL
),
lone AS (
    SELECT
        b.group_id,
        b.member_id,
        min(b.client_id) AS client_id,
        min(b.client_address) AS client_address,
        max_by(b.exchange, (b.request_time_ns, b.exchange)) AS exchange,
        max_by(b.connection, (b.request_time_ns, b.exchange)) AS connection,
        max(b.request_time_ns) AS last_ns,
        -- A clock that jumps makes pauses of years: an hour is a long one.
        max(b.request_time_ns) + greatest(least(coalesce(max(b.pause_ns), 0), s(3600)) * 3, s(5)) AS due_ns
    FROM beats AS b
    GROUP BY b.group_id, b.member_id
    HAVING count(*) >= 3
),
vanished AS (
    SELECT l.*
    FROM lone AS l
    JOIN connections AS c ON c.connection = l.connection
    CROSS JOIN time_range AS r
    WHERE r.last_time_ns > l.due_ns AND c.client_gaps = 0 AND c.one_way IS NULL
        AND NOT EXISTS (
            SELECT 1 FROM group_events AS e
            WHERE e.group_id = l.group_id AND e.member_id = l.member_id AND e.event = 'leave'
        )
),
-- What other members of these groups were told, with how many partitions they had before.
shifts AS (
    SELECT
        e.group_id,
        e.member_id,
        e.event,
        e.begin_ns,
        e.assigned_partitions > coalesce(
            max(e.assigned_partitions) OVER (
                PARTITION BY e.group_id, e.member_id ORDER BY e.begin_ns, e.exchange
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0
        ) AS grows,
        min(e.begin_ns) OVER (PARTITION BY e.group_id, e.member_id) AS first_ns,
        e.group_type,
        e.error_code
    FROM group_events AS e
    WHERE e.group_id IN (SELECT group_id FROM vanished)
),
first_beats AS (
    SELECT group_id, member_id, min(request_time_ns) AS first_ns FROM beats GROUP BY group_id, member_id
),
missed AS (
    SELECT
        who(v) AS who,
        v.client_address,
        v.group_id,
        CAST(NULL AS INTEGER) AS session_timeout_ms,
        min(s.begin_ns) - v.last_ns AS silence_ns,
        v.exchange,
        v.last_ns AS begin_ns,
        min(s.begin_ns) AS time_ns,
        'it has not rejoined' AS back
    FROM vanished AS v
    JOIN shifts AS s ON s.group_id = v.group_id AND s.member_id <> v.member_id AND s.begin_ns > v.last_ns
    LEFT JOIN first_beats AS f ON f.group_id = s.group_id AND f.member_id = s.member_id
    WHERE s.event = 'leave'
        OR (s.event = 'join' AND no_error(s.error_code))
        OR (s.group_type <> 'classic' AND s.grows)
        OR (s.group_type = 'classic' AND s.error_code = error('REBALANCE_IN_PROGRESS'))
    GROUP BY v.client_id, v.client_address, v.group_id, v.member_id, v.exchange, v.last_ns, v.due_ns
    -- The first of these is late, and of a member that was there before.
    HAVING min(s.begin_ns) >= v.due_ns
        AND min_by(s.event, (s.begin_ns, s.member_id)) <> 'leave'
        AND min_by(coalesce(f.first_ns, s.first_ns), (s.begin_ns, s.member_id)) < v.last_ns
)
SELECT
    who,
    client_address,
    group_id,
    session_timeout_ms,
    count(*) AS times,
    max(silence_ns) AS silence_ns,
    max(back) AS back,
    max(silence_ns) AS weight,
    min_by(exchange, (time_ns, exchange)) AS evidence_first,
    max_by(exchange, (time_ns, exchange)) AS evidence_last,
    min(begin_ns) AS first_time_ns,
    max(time_ns) AS last_time_ns
FROM (SELECT * FROM told_so UNION ALL SELECT * FROM expired UNION ALL SELECT * FROM missed) AS gone
GROUP BY who, client_address, group_id, session_timeout_ms
