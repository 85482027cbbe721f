-- severity: medium
-- rank: 14
-- when: group_events having bool_or(session_timeout_ms > 0) AND (SELECT count(*) FROM errors WHERE code IN (25, 110)) > 0
-- says: {who} was thrown out of group {group_id} after {silence_ns} of silence, {times|time|times} (session timeout {session_timeout_ms})
-- do: The whole process stood still (garbage collection, a paused machine) or its network did: look there.
-- look: kanalyze groups[ --group {group_id}]
-- Only where the connection lost no bytes in the capture: silence must be the member's own.
WITH thrown_out AS (
    SELECT group_id, member_id
    FROM exchanges
    WHERE error_code IN (25, 110) AND group_id IS NOT NULL AND member_id <> ''
    GROUP BY group_id, member_id
),
steps AS (
    SELECT
        x.exchange,
        x.connection,
        coalesce(x.client_id, x.client_address) AS who,
        x.group_id,
        x.member_id,
        x.error_code,
        x.request_time_ns,
        lag(x.request_time_ns) OVER (PARTITION BY x.group_id, x.member_id ORDER BY x.request_time_ns) AS earlier_ns
    FROM exchanges AS x JOIN thrown_out AS m ON m.group_id = x.group_id AND m.member_id = x.member_id
),
sessions AS (
    SELECT group_id, min(session_timeout_ms) AS session_timeout_ms
    FROM group_events
    WHERE session_timeout_ms > 0
    GROUP BY group_id
)
SELECT
    s.who,
    s.group_id,
    t.session_timeout_ms,
    count(*) AS times,
    max(s.request_time_ns - s.earlier_ns) AS silence_ns,
    max(s.request_time_ns - s.earlier_ns) AS weight,
    min_by(s.exchange, (s.request_time_ns, s.exchange)) AS evidence_first,
    max_by(s.exchange, (s.request_time_ns, s.exchange)) AS evidence_last,
    min(s.request_time_ns) AS first_time_ns,
    max(s.request_time_ns) AS last_time_ns
FROM steps AS s
JOIN sessions AS t ON t.group_id = s.group_id
JOIN connections AS c ON c.connection = s.connection
WHERE s.error_code IN (25, 110) AND c.client_gaps = 0
    AND s.request_time_ns - s.earlier_ns >= CAST(t.session_timeout_ms AS BIGINT) * 1000000
GROUP BY s.who, s.group_id, t.session_timeout_ms
