-- Consumers that did not poll in time, one row a client and group: their group went on without them, unless each time the coordinator
-- took them back under the member id that they had (`is_kept`), as libraries without a timer of their own come back. Who is in groups of
-- several clusters under one name has a row for each.
-- The rebalance timeout of a join is the client's max.poll.interval.ms; where it joined before the capture, it is not known. It shows
-- in one of two ways. The client leaves: its reason says so (KIP-800), or, as librdkafka does, it leaves without a word, keeps the
-- connection and joins again, not before the interval is over. Or it sends no Fetch for so long while heartbeats go on at first, and then
-- stop, fail, or it joins again: with heartbeats to the end it polled, and asked for nothing (all was paused, or held already).
WITH news AS (
    SELECT e.*, CASE WHEN s.who IS NOT NULL THEN l.cluster END AS realm
    FROM group_news AS e
    LEFT JOIN spread_clients AS s ON s.who = who(e)
    LEFT JOIN clustered_connections AS l ON l.connection = e.connection
),
members AS (
    SELECT
        realm,
        group_id,
        client_id,
        client_address,
        max(rebalance_timeout_ms) AS interval_ms
    FROM news
    WHERE event = 'join' AND group_type IN ('classic', 'consumer') AND rebalance_timeout_ms > 0
    GROUP BY realm, group_id, client_id, client_address
    HAVING CAST(max(rebalance_timeout_ms) AS BIGINT) * ms(1) <= (SELECT max(last_time_ns - first_time_ns) FROM time_range)
),
leaves AS (
    SELECT
        e.realm,
        e.group_id,
        e.client_id,
        e.client_address,
        m.interval_ms,
        e.connection,
        e.exchange,
        e.reason,
        e.begin_ns
    FROM news AS e LEFT JOIN members AS m
        ON m.realm IS NOT DISTINCT FROM e.realm AND m.group_id = e.group_id AND m.client_id IS NOT DISTINCT FROM e.client_id
        AND m.client_address = e.client_address
    WHERE e.event = 'leave' AND e.group_type IN ('classic', 'consumer') AND (m.group_id IS NOT NULL OR e.reason IS NOT NULL)
),
-- The last step before a leave on its connection, and the first behind it.
around AS (
    SELECT
        l.exchange,
        max(CASE WHEN j.begin_ns < l.begin_ns AND j.error_code = error('NONE') THEN j.time_ns END) AS joined_ns,
        min(CASE WHEN j.begin_ns > l.begin_ns THEN j.begin_ns END) AS again_ns
    FROM leaves AS l JOIN group_news AS j
        ON j.connection = l.connection AND j.group_id = l.group_id AND j.event IN ('join', 'sync')
    GROUP BY l.exchange
),
left_late AS (
    SELECT
        l.realm,
        l.group_id,
        who(l) AS who,
        l.interval_ms,
        CAST(NULL AS BIGINT) AS gap_ns,
        false AS is_kept,
        l.exchange AS evidence_before,
        l.exchange AS evidence_after,
        l.begin_ns - coalesce(CAST(l.interval_ms AS BIGINT), 0) * ms(1) AS first_time_ns,
        l.begin_ns AS last_time_ns
    FROM leaves AS l LEFT JOIN around AS a ON a.exchange = l.exchange
    WHERE l.reason LIKE '%poll timeout has expired%'
        OR (l.reason IS NULL AND a.again_ns IS NOT NULL AND l.begin_ns - a.joined_ns >= CAST(l.interval_ms AS BIGINT) * 950000)
),
clients AS (
    SELECT client_id, client_address, max(realm) IS NOT NULL AS is_spread FROM members GROUP BY client_id, client_address
),
fetches AS (
    SELECT
        x.client_id,
        x.client_address,
        CASE WHEN c.is_spread THEN l.cluster END AS realm,
        x.exchange,
        x.request_time_ns,
        lag(x.exchange) OVER following AS earlier,
        lag(x.response_end_ns) OVER following AS earlier_ns
    FROM exchanges AS x JOIN clients AS c
        ON c.client_id IS NOT DISTINCT FROM x.client_id AND c.client_address = x.client_address
    LEFT JOIN clustered_connections AS l ON l.connection = x.connection
    WHERE x.api_key = api('Fetch') AND coalesce(x.replica_id, -1) < 0 AND x.request_time_ns IS NOT NULL
    WINDOW following AS (
        PARTITION BY x.client_id, x.client_address, CASE WHEN c.is_spread THEN l.cluster END ORDER BY x.request_time_ns, x.exchange
    )
),
gaps AS (
    SELECT
        m.realm,
        m.group_id,
        who(f) AS who,
        m.interval_ms,
        f.client_id,
        f.client_address,
        f.exchange,
        f.earlier,
        f.earlier_ns,
        f.request_time_ns
    FROM fetches AS f JOIN members AS m
        ON m.client_id IS NOT DISTINCT FROM f.client_id AND m.client_address = f.client_address AND m.realm IS NOT DISTINCT FROM f.realm
    WHERE f.request_time_ns - f.earlier_ns >= CAST(m.interval_ms AS BIGINT) * ms(1)
),
-- Gaps in which the member left or joined again.
broken AS (
    SELECT
        g.exchange,
        g.group_id,
        bool_or(e.event = 'leave') AS left_it,
        max(e.member_id) FILTER (WHERE e.event = 'join' AND no_error(e.error_code)) AS member_id
    FROM gaps AS g JOIN news AS e
        ON e.realm IS NOT DISTINCT FROM g.realm AND e.group_id = g.group_id AND e.client_id IS NOT DISTINCT FROM g.client_id
        AND e.client_address = g.client_address
    WHERE e.event IN ('join', 'leave') AND e.begin_ns BETWEEN g.earlier_ns AND g.request_time_ns
    GROUP BY g.exchange, g.group_id
),
silent AS (
    SELECT
        g.realm,
        g.group_id,
        g.who,
        g.interval_ms,
        g.request_time_ns - g.earlier_ns AS gap_ns,
        coalesce(NOT bool_or(b.left_it) AND max(b.member_id) = max(h.member_id)
            AND NOT bool_or(h.error_code IN (error('UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION'))), false) AS is_kept,
        g.earlier AS evidence_before,
        g.exchange AS evidence_after,
        g.earlier_ns AS first_time_ns,
        g.request_time_ns AS last_time_ns
    FROM gaps AS g JOIN exchanges AS h
        ON h.api_name = 'Heartbeat' AND h.group_id = g.group_id AND h.client_id IS NOT DISTINCT FROM g.client_id
        AND h.client_address = g.client_address AND h.request_time_ns > g.earlier_ns
        AND h.request_time_ns < g.request_time_ns
        LEFT JOIN clustered_connections AS l ON l.connection = h.connection
        LEFT JOIN broken AS b ON b.exchange = g.exchange AND b.group_id = g.group_id
    WHERE g.realm IS NULL OR l.cluster = g.realm
    GROUP BY g.realm, g.group_id, g.who, g.interval_ms, g.request_time_ns, g.earlier_ns, g.earlier, g.exchange
    HAVING count(*) >= 3 AND (
        count(b.exchange) > 0 OR bool_or(h.error_count > 0)
        OR g.request_time_ns - max(h.request_time_ns) > 2 * (max(h.request_time_ns) - min(h.request_time_ns)) / (count(*) - 1)
    )
),
counted AS (
    SELECT
        realm AS cluster,
        group_id,
        who,
        max(interval_ms) AS interval_ms,
        greatest(count(*) FILTER (WHERE gap_ns IS NULL), count(gap_ns)) AS times,
        max(gap_ns) AS gap_ns,
        CASE WHEN bool_and(is_kept) THEN 'it was still a member when it joined again' ELSE 'the group continued without it' END AS effect,
        min_by(evidence_before, (first_time_ns, evidence_before)) AS evidence_before,
        max_by(evidence_after, (last_time_ns, evidence_after)) AS evidence_after,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM (SELECT * FROM left_late UNION ALL SELECT * FROM silent) AS late
    GROUP BY realm, group_id, who
)
SELECT *, times AS weight, CASE WHEN times >= 3 THEN 'high' ELSE 'medium' END AS severity
FROM counted
