-- Requests without a reply, one row per API; the row without an API counts replies alone. `lost` were cut off by the end of their
-- connection, or their client gave up; what the broker holds by design (Fetch, JoinGroup, SyncGroup, ShareFetch) loses nothing when
-- it is cut off: waits, clients and examples are those of the others where there are any, and `cut` counts them. `matters`:
-- one or two requests that the end of their connection cut off within a second are a client that was shut down, on however many
-- connections that happens, unless one client loses ten. Those do not count that a client leaves behind as it ends the connection
-- itself within 100 ms: so ends each run of a short program. A Produce among them is told all the same, but for one that a kernel
-- refused at once: the socket had been closed before, and no broker has seen it. `together_ns`: all that were cut off were reset within
-- that time, a second at most, of two clients at two brokers or more: what they have in common is what lies between.
WITH without AS (
    SELECT
        e.*,
        CASE WHEN e.kind = 'sasl_token' THEN 'SASL token' ELSE e.api_name END AS api,
        who(e) AS who,
        e.status IN ('closed', 'abandoned') AS is_lost,
        e.status IN ('closed', 'abandoned') AND NOT (e.status = 'closed'
            AND coalesce(e.api_key, -1) IN (api('Fetch', 'JoinGroup', 'SyncGroup', 'ShareFetch'))) AS is_cut,
        wait_end_ns(c, e) - coalesce(e.request_end_ns, e.request_time_ns) AS waited_ns,
        coalesce(c.closed_by = 'client' AND wait_end_ns(c, e) - coalesce(e.request_end_ns, e.request_time_ns) < ms(100), false) AS is_left,
        p.until_ns - coalesce(e.request_end_ns, e.request_time_ns) AS pending_ns,
        CASE WHEN c.close = 'rst' AND c.closed_by = 'broker' THEN c.close_time_ns END AS reset_ns
    FROM exchanges AS e
    LEFT JOIN connections AS c ON c.connection = e.connection
    LEFT JOIN pending_requests AS p ON p.exchange = e.exchange
    WHERE e.status NOT IN ('answered', 'no_reply_expected')
),
judged AS (
    SELECT
        *,
        is_cut AND (
            count(*) FILTER (WHERE is_cut) OVER (PARTITION BY connection) >= 3
            OR max(CASE WHEN is_cut THEN waited_ns END) OVER (PARTITION BY connection) >= s(1)
            OR bool_or(is_cut AND (status = 'abandoned' OR (coalesce(api_name, '') = 'Produce' AND waited_ns >= ms(1))))
                OVER (PARTITION BY connection)
            OR count(*) FILTER (WHERE is_cut AND NOT is_left) OVER (PARTITION BY client_address, client_id) >= 10
        ) AS matters
    FROM without
)
SELECT
    j.api AS api_name,
    count(*) FILTER (WHERE j.status = 'pending') AS pending,
    count(*) FILTER (WHERE j.status = 'closed') AS closed,
    count(*) FILTER (WHERE j.status = 'abandoned') AS abandoned,
    count(*) FILTER (WHERE j.is_lost) AS lost,
    count(*) FILTER (WHERE j.is_cut) AS cut,
    count(*) FILTER (WHERE j.status = 'reply_lost') AS reply_lost,
    count(*) FILTER (WHERE j.status = 'orphan_reply') AS orphan_replies,
    max(j.pending_ns) AS longest_pending_ns,
    coalesce(max(j.waited_ns) FILTER (WHERE j.is_cut), max(j.waited_ns) FILTER (WHERE j.is_lost)) AS longest_closed_ns,
    coalesce(
        max_by(j.exchange, (j.waited_ns, j.exchange)) FILTER (WHERE j.is_cut),
        max_by(j.exchange, (j.waited_ns, j.exchange)) FILTER (WHERE j.is_lost)
    ) AS example_exchange,
    coalesce(
        min_by(j.who, (j.request_time_ns, j.exchange)) FILTER (WHERE j.is_cut),
        min_by(j.who, (j.request_time_ns, j.exchange)) FILTER (WHERE j.is_lost)
    ) AS who,
    coalesce(
        nullif(count(DISTINCT j.who) FILTER (WHERE j.is_cut), 0), count(DISTINCT j.who) FILTER (WHERE j.is_lost)
    ) AS clients,
    coalesce(bool_or(j.matters), false) AS matters,
    CASE WHEN count(*) FILTER (WHERE j.is_cut AND j.reset_ns IS NULL) = 0
        AND count(DISTINCT j.connection) FILTER (WHERE j.is_cut) >= 3
        AND count(DISTINCT j.client_address) FILTER (WHERE j.is_cut) >= 2
        AND count(DISTINCT j.broker_address) FILTER (WHERE j.is_cut) >= 2
        AND max(j.reset_ns) FILTER (WHERE j.is_cut) - min(j.reset_ns) FILTER (WHERE j.is_cut) <= s(1)
        THEN max(j.reset_ns) FILTER (WHERE j.is_cut) - min(j.reset_ns) FILTER (WHERE j.is_cut) END AS together_ns,
    count(DISTINCT j.connection) FILTER (WHERE j.is_cut) AS cut_connections,
    count(DISTINCT j.broker_address) FILTER (WHERE j.is_cut) AS cut_brokers,
    CASE WHEN min(CASE WHEN j.is_cut THEN j.broker_address END) = max(CASE WHEN j.is_cut THEN j.broker_address END)
        AND min(CASE WHEN j.is_cut THEN j.broker_port END) = max(CASE WHEN j.is_cut THEN j.broker_port END)
        THEN max(CASE WHEN j.is_cut THEN j.broker_address END) || ':'
            || CAST(max(CASE WHEN j.is_cut THEN j.broker_port END) AS STRING) END AS broker,
    min_by(j.exchange, (j.request_time_ns, j.exchange)) FILTER (WHERE j.is_cut) AS first_exchange,
    min(j.request_time_ns) FILTER (WHERE j.is_cut) AS first_time_ns,
    max(j.request_time_ns) FILTER (WHERE j.is_cut) AS last_time_ns
FROM judged AS j
GROUP BY j.api
