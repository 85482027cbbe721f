-- Whose connections to a group coordinator were muted for long? One row per client and connection: muted for
-- `muted_ns`, more than half of `session_timeout_ms`.
WITH coordinated AS (
    SELECT connection, max(group_id) AS group_id, max(client_id) AS client_id, max(client_address) AS client_address
    FROM exchanges
    -- Heartbeats of groups of any type.
    WHERE api_key IN (api('Heartbeat', 'ConsumerGroupHeartbeat', 'ShareGroupHeartbeat', 'StreamsGroupHeartbeat'))
        AND connection IN (SELECT connection FROM mutes WHERE applies)
    GROUP BY connection
),
sessions AS (
    SELECT group_id, min(session_timeout_ms) AS session_timeout_ms
    FROM group_news
    WHERE session_timeout_ms > 0
    GROUP BY group_id
)
SELECT
    who(c) AS who,
    c.group_id,
    s.session_timeout_ms,
    max(m.end_ns - m.begin_ns) AS muted_ns,
    m.connection,
    max(m.end_ns - m.begin_ns) AS weight,
    max_by(m.exchange, (m.end_ns - m.begin_ns, m.exchange)) AS evidence_longest,
    min(m.begin_ns) AS first_time_ns,
    max(m.end_ns) AS last_time_ns
FROM mutes AS m
JOIN coordinated AS c ON c.connection = m.connection
JOIN sessions AS s ON s.group_id = c.group_id
WHERE m.applies AND m.end_ns - m.begin_ns > CAST(s.session_timeout_ms AS BIGINT) * 500000
GROUP BY who(c), c.group_id, s.session_timeout_ms, m.connection
