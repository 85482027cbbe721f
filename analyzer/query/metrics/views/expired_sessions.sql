-- Members that were removed because nothing was heard of them, one row a client and group.
-- Silence of the session timeout at least, and then one of two: its next request is told that there is no such member, or the others
-- were made to rebalance when the time was over and it never came back. Where its session timeout is not known (the group began
-- before the capture, or is of the newer protocol): five seconds and three times its own longest pause before, until the others
-- rebalanced or got partitions, though nobody came or left meanwhile. Silence must be the member's own: where the broker says that the
-- time was over, the connection lacks one in eight of its packets with data at most; elsewhere none.
WITH sessions AS (
    SELECT cluster, group_id, client_id, client_address, max(session_timeout_ms) AS session_timeout_ms
    FROM group_news
    WHERE session_timeout_ms > 0 AND event = 'join' AND group_type = 'classic'
    GROUP BY cluster, group_id, client_id, client_address
),
-- Who was refused, and has requests so far apart: only theirs are put in order.
refused AS (
    SELECT q.group_id, q.client_id, q.client_address
    FROM group_requests AS q
    JOIN sessions AS t
        ON t.group_id = q.group_id AND t.client_id IS NOT DISTINCT FROM q.client_id AND t.client_address = q.client_address
    GROUP BY q.group_id, q.client_id, q.client_address
    HAVING bool_or(q.error_code IN (error('UNKNOWN_MEMBER_ID', 'FENCED_MEMBER_EPOCH')))
        AND max(q.last_time_ns) - min(q.first_time_ns) >= CAST(min(t.session_timeout_ms) AS BIGINT) * ms(1)
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
    WHERE s.error_code IN (error('UNKNOWN_MEMBER_ID', 'FENCED_MEMBER_EPOCH'))
        AND c.client_gaps * 8 <= coalesce(c.client_data_packets, 0)
        AND s.request_time_ns - s.earlier_ns >= CAST(t.session_timeout_ms AS BIGINT) * ms(1)
),
-- Members whose last request of any sort was long before the end, and who did not leave: several of them may have one client id.
last_steps AS (
    SELECT
        t.cluster,
        t.group_id,
        t.client_id,
        t.client_address,
        t.session_timeout_ms,
        q.member_id,
        min(q.first_time_ns) AS first_ns,
        max(q.last_time_ns) AS last_ns
    FROM sessions AS t JOIN group_requests AS q
        ON q.group_id = t.group_id AND q.client_id IS NOT DISTINCT FROM t.client_id AND q.client_address = t.client_address
    WHERE q.api_key IN (api('OffsetCommit', 'JoinGroup', 'Heartbeat', 'SyncGroup')) AND q.error_code = error('NONE')
        AND q.member_id <> ''
    GROUP BY t.cluster, t.group_id, t.client_id, t.client_address, t.session_timeout_ms, q.member_id
),
-- Its client came back where it joins as a member that is new; whose id was there before is another one.
quiet AS (
    SELECT l.*
    FROM last_steps AS l
    CROSS JOIN time_range AS r
    WHERE r.last_time_ns - l.last_ns >= CAST(l.session_timeout_ms AS BIGINT) * ms(1)
        AND NOT EXISTS (
            SELECT 1
            FROM group_news AS e
                LEFT JOIN last_steps AS o ON o.group_id = e.group_id AND o.member_id = e.member_id AND o.member_id <> l.member_id
            WHERE e.group_id = l.group_id AND e.client_id IS NOT DISTINCT FROM l.client_id
                AND e.client_address = l.client_address AND e.event IN ('leave', 'join') AND e.begin_ns > l.last_ns
                AND (o.first_ns IS NULL OR o.first_ns > l.last_ns)
        )
),
-- The first rebalance of the others after that; a session ends with its timeout, and is looked at now and then.
disturbed AS (
    SELECT s.client_id, s.client_address, s.group_id, s.session_timeout_ms, s.last_ns, min(e.begin_ns) AS time_ns
    FROM quiet AS s
    ASOF JOIN (
        SELECT coalesce(cluster, '') AS cluster, group_id, begin_ns
        FROM group_news
        WHERE event = 'join' AND error_code = error('NONE')
    ) AS e ON e.cluster = coalesce(s.cluster, '') AND e.group_id = s.group_id AND e.begin_ns > s.last_ns
    GROUP BY s.client_id, s.client_address, s.group_id, s.session_timeout_ms, s.last_ns
    HAVING min(e.begin_ns) - s.last_ns BETWEEN CAST(s.session_timeout_ms AS BIGINT) * ms(1)
        AND CAST(s.session_timeout_ms AS BIGINT) * ms(1) + s(10)
),
expired AS (
    SELECT
        who(s) AS who,
        s.client_address,
        s.group_id,
        s.session_timeout_ms,
        s.time_ns - s.last_ns AS silence_ns,
        s.exchange,
        s.last_ns AS begin_ns,
        s.time_ns,
        'it has not rejoined' AS back
    FROM (
        SELECT
            d.client_id, d.client_address, d.group_id, d.session_timeout_ms, d.last_ns, d.time_ns,
            max(x.exchange) AS exchange,
            max_by(x.connection, x.exchange) AS connection
        FROM disturbed AS d JOIN exchanges AS x
            ON x.group_id = d.group_id AND x.client_id IS NOT DISTINCT FROM d.client_id
            AND x.client_address = d.client_address AND x.request_time_ns = d.last_ns
        WHERE x.api_key IN (api('OffsetCommit', 'JoinGroup', 'Heartbeat', 'SyncGroup')) AND x.error_code = error('NONE')
        GROUP BY d.client_id, d.client_address, d.group_id, d.session_timeout_ms, d.last_ns, d.time_ns
    ) AS s
    JOIN connections AS c ON c.connection = s.connection
    WHERE c.client_gaps = 0
),
-- Heartbeats and commits of members whose session timeout is not known.
beats AS (
    SELECT q.*
    FROM group_requests AS q
    LEFT JOIN sessions AS t
        ON t.group_id = q.group_id AND t.client_id IS NOT DISTINCT FROM q.client_id AND t.client_address = q.client_address
    WHERE q.api_key IN (api('OffsetCommit', 'JoinGroup', 'Heartbeat', 'SyncGroup', 'ConsumerGroupHeartbeat'))
        AND q.member_id <> '' AND no_error(q.error_code) AND NOT q.is_orphan
        AND t.group_id IS NULL
),
members AS (
    SELECT
        group_id,
        member_id,
        min(client_id) AS client_id,
        min(client_address) AS client_address,
        sum(exchanges) AS exchanges,
        min(first_time_ns) AS first_ns,
        max(last_time_ns) AS last_ns
    FROM beats
    GROUP BY group_id, member_id
),
-- Nothing of them for long before the end, and they did not leave: only of these is it asked how long they are used to pause.
lone AS (
    SELECT m.*
    FROM members AS m
    CROSS JOIN time_range AS r
    WHERE m.exchanges >= 3 AND r.last_time_ns > m.last_ns + s(5)
        AND NOT EXISTS (
            SELECT 1 FROM group_news AS e
            WHERE e.group_id = m.group_id AND e.member_id = m.member_id AND e.event = 'leave'
        )
),
paused AS (
    SELECT
        l.group_id,
        l.member_id,
        x.exchange,
        x.connection,
        x.request_time_ns,
        x.request_time_ns - lag(x.request_time_ns) OVER (
            PARTITION BY x.group_id, x.member_id ORDER BY x.request_time_ns, x.exchange
        ) AS pause_ns
    FROM exchanges AS x
    JOIN lone AS l ON l.group_id = x.group_id AND l.member_id = x.member_id
    LEFT JOIN sessions AS t
        ON t.group_id = x.group_id AND t.client_id IS NOT DISTINCT FROM x.client_id AND t.client_address = x.client_address
    WHERE x.api_key IN (api('OffsetCommit', 'JoinGroup', 'Heartbeat', 'SyncGroup', 'ConsumerGroupHeartbeat'))
        AND no_error(x.error_code) AND x.request_time_ns IS NOT NULL
        AND t.group_id IS NULL
),
pauses AS (
    SELECT
        group_id,
        member_id,
        max_by(exchange, (request_time_ns, exchange)) AS exchange,
        max_by(connection, (request_time_ns, exchange)) AS connection,
        -- A clock that jumps makes pauses of years: an hour is a long one.
        max(request_time_ns) + greatest(least(coalesce(max(pause_ns), 0), s(3600)) * 3, s(5)) AS due_ns
    FROM paused
    GROUP BY group_id, member_id
),
vanished AS (
    SELECT l.group_id, l.member_id, l.client_id, l.client_address, l.last_ns, p.exchange, p.due_ns
    FROM lone AS l
    JOIN pauses AS p ON p.group_id = l.group_id AND p.member_id = l.member_id
    JOIN connections AS c ON c.connection = p.connection
    CROSS JOIN time_range AS r
    WHERE r.last_time_ns > p.due_ns AND c.client_gaps = 0 AND c.one_way IS NULL
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
    FROM group_news AS e
    WHERE e.group_id IN (SELECT group_id FROM vanished)
),
commits AS (
    SELECT group_id, member_id, min(first_time_ns) AS first_ns
    FROM group_requests
    WHERE api_key = api('OffsetCommit')
    GROUP BY group_id, member_id
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
    LEFT JOIN members AS f ON f.group_id = s.group_id AND f.member_id = s.member_id
    LEFT JOIN commits AS o ON o.group_id = s.group_id AND o.member_id = s.member_id
    WHERE s.event = 'leave'
        OR (s.event = 'join' AND no_error(s.error_code))
        OR (s.group_type <> 'classic' AND s.grows)
        OR (s.group_type = 'classic' AND s.error_code = error('REBALANCE_IN_PROGRESS'))
    GROUP BY v.client_id, v.client_address, v.group_id, v.member_id, v.exchange, v.last_ns, v.due_ns
    -- The first of these is late, and of a member that was there before.
    HAVING min(s.begin_ns) >= v.due_ns
        AND min_by(s.event, (s.begin_ns, s.member_id)) <> 'leave'
        AND min_by(coalesce(f.first_ns, least(s.first_ns, coalesce(o.first_ns, s.first_ns))), (s.begin_ns, s.member_id)) < v.last_ns
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
