-- In which state was a broker that is not at work, as it and the controller tell each other? One row per broker and spell:
-- `broker_state` as in `broker_events`; `log_dirs_offline`: at work, with directories that have failed; `silent`: no heartbeat for three
-- seconds and three times as long as from one to the next otherwise, though the one before was answered and its connection went on.
-- A spell of what is told ends where nothing of the kind was told for 15 s.
WITH told AS (
    SELECT
        cluster,
        broker_id,
        client_address,
        CASE WHEN broker_state = 'running' THEN 'log_dirs_offline' ELSE broker_state END AS broker_state,
        offline_log_dirs,
        exchange,
        begin_ns,
        time_ns
    FROM broker_events
    WHERE broker_state <> 'running' OR offline_log_dirs > 0
),
-- A stop that is granted ends the time in which a broker asked for it.
places AS (
    SELECT
        *,
        CASE WHEN broker_state = 'shutting_down' THEN 'pending_controlled_shutdown' ELSE broker_state END AS asked_state
    FROM told
),
marked AS (
    SELECT *, coalesce(begin_ns - lag(time_ns) OVER spell > s(15), true) AS is_first
    FROM places
    WINDOW spell AS (PARTITION BY cluster, client_address, broker_id, asked_state ORDER BY time_ns, exchange)
),
spells AS (
    SELECT *, sum(CASE WHEN is_first THEN 1 ELSE 0 END) OVER (
        PARTITION BY cluster, client_address, broker_id, asked_state ORDER BY time_ns, exchange
    ) AS spell
    FROM marked
),
rhythms AS (
    SELECT connection, percentile_disc(0.5) WITHIN GROUP (ORDER BY silent_ns) AS usual_ns
    FROM heartbeats
    WHERE next_exchange IS NOT NULL
    GROUP BY connection
    HAVING count(silent_ns) >= 5
),
states AS (
    SELECT
        cluster,
        broker_id,
        client_address,
        asked_state AS broker_state,
        max(offline_log_dirs) AS offline_log_dirs,
        min(begin_ns) AS first_time_ns,
        max(time_ns) AS last_time_ns,
        CASE WHEN bool_or(broker_state = 'shutting_down') THEN true END AS is_over,
        CAST(NULL AS BIGINT) AS usual_ns,
        min_by(exchange, (time_ns, exchange)) AS evidence_first,
        max_by(exchange, (time_ns, exchange)) AS evidence_last
    FROM spells
    WHERE asked_state IS NOT NULL
    GROUP BY cluster, broker_id, client_address, asked_state, spell
    UNION ALL
    SELECT
        c.cluster,
        TRY_CAST(h.client_id AS INTEGER),
        h.client_address,
        'silent',
        NULL,
        h.begin_ns,
        h.begin_ns + h.silent_ns,
        h.next_exchange IS NOT NULL,
        r.usual_ns,
        h.exchange,
        h.next_exchange
    FROM heartbeats AS h
    JOIN rhythms AS r ON r.connection = h.connection
    JOIN connections AS c ON c.connection = h.connection
    WHERE h.silent_ns >= greatest(s(3), 3 * r.usual_ns)
)
SELECT
    s.* EXCLUDE (client_address),
    coalesce(CAST(s.broker_id AS STRING) || ' (' || s.client_address || ')', s.client_address) AS node,
    s.client_address AS host,
    l.broker,
    s.last_time_ns - s.first_time_ns AS lasts_ns
FROM states AS s LEFT JOIN client_listeners AS l ON l.broker_address = s.client_address
