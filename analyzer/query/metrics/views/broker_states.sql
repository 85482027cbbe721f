-- In which state was a broker that is not at work, as it and the controller tell each other? One row per broker and spell:
-- `broker_state` as in `broker_events`; `log_dirs_offline`: at work, with directories that have failed; `silent`: no heartbeat for three
-- seconds and three times as long as from one to the next otherwise, though the one before was answered and its connection went on;
-- not where all brokers of a controller were silent at once, which is where the capture was taken, or the controller.
-- A spell of what is told ends where nothing of the kind was told for 15 s.
WITH told AS (
    SELECT
        cluster,
        broker_id,
        connection,
        event,
        client_address,
        -- Also without a reply, which would tell the state.
        CASE WHEN offline_log_dirs > 0 AND (broker_state = 'running' OR broker_state IS NULL AND error_code IS NULL)
            THEN 'log_dirs_offline'
            ELSE broker_state END AS broker_state,
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
-- One that starts sends a heartbeat each 10 ms.
rhythms AS (
    SELECT connection, percentile_disc(0.5) WITHIN GROUP (ORDER BY silent_ns) AS usual_ns
    FROM heartbeats
    WHERE next_exchange IS NOT NULL AND silent_ns >= ms(100)
    GROUP BY connection
    HAVING count(*) >= 5
),
silences AS (
    SELECT h.*, r.usual_ns
    FROM heartbeats AS h JOIN rhythms AS r ON r.connection = h.connection
    WHERE h.silent_ns >= greatest(s(3), 3 * r.usual_ns)
),
beating AS (
    SELECT controller, count(DISTINCT client_address) AS brokers FROM heartbeats GROUP BY controller
),
lone AS (
    SELECT
        s.*,
        b.brokers > 1 AND b.brokers = count(DISTINCT s.client_address) OVER (
            PARTITION BY s.controller ORDER BY s.begin_ns RANGE BETWEEN s(3) PRECEDING AND s(3) FOLLOWING
        ) AS are_all,
        -- Two capture points saw the same silence.
        coalesce(s.begin_ns < lag(s.begin_ns + s.silent_ns) OVER (
            PARTITION BY s.controller, s.client_address, s.client_id ORDER BY s.begin_ns, s.exchange
        ), false) AS is_again
    FROM silences AS s JOIN beating AS b ON b.controller = s.controller
),
states AS (
    SELECT
        max(connection) AS connection,
        broker_id,
        client_address,
        asked_state AS broker_state,
        min(event) AS event,
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
        h.connection,
        TRY_CAST(h.client_id AS INTEGER),
        h.client_address,
        'silent',
        NULL,
        NULL,
        h.begin_ns,
        h.begin_ns + h.silent_ns,
        h.next_exchange IS NOT NULL,
        h.usual_ns,
        h.exchange,
        h.next_exchange
    FROM lone AS h
    WHERE NOT h.are_all AND NOT h.is_again
)
SELECT
    s.* EXCLUDE (client_address, connection),
    coalesce(c.cluster, k.cluster) AS cluster,
    c.broker_address || ':' || CAST(c.broker_port AS STRING) AS controller,
    coalesce(CAST(s.broker_id AS STRING) || ' (' || s.client_address || ')', s.client_address) AS node,
    s.client_address AS host,
    l.broker,
    s.last_time_ns - s.first_time_ns AS lasts_ns
FROM states AS s
JOIN all_connections AS c ON c.connection = s.connection
LEFT JOIN host_clusters AS k ON k.host = s.client_address
LEFT JOIN client_listeners AS l ON l.broker_address = s.client_address
