-- Who is throttled, in which API (or by what `settings` asks for), by how much? Two sums that are not the same:
-- `throttle_time_ms` adds up what the replies tell, over all connections, so it may exceed the time that passed;
-- `throttled_ns` is the time in which the worst connection was muted, windows united, over all its APIs, `share` (0 to 1) its
-- part of that connection's life. `held_ns`: requests waited for the end of a mute; `paused_ns`: the client sent nothing in
-- the window and went on within 100 ms of its end; `delayed_ns`: spent before the reply by brokers older than 2.0, part of
-- the latency, no mute. `unknown` counts replies that do not tell, `unsure` those of brokers whose age was not seen.
WITH throttled_hosts AS (
    SELECT client_address FROM exchanges WHERE throttle_time_ms > 0 GROUP BY client_address
),
refused AS (
    SELECT exchange FROM errors WHERE code = error('THROTTLING_QUOTA_EXCEEDED') GROUP BY exchange
),
traffic AS (
    SELECT
        e.connection,
        CASE WHEN coalesce(s.by_client, true) THEN e.client_address END AS client_address,
        CASE WHEN coalesce(s.by_client, true) THEN e.client_id END AS client_id,
        CASE WHEN s.by_app THEN coalesce(a.application, e.client_id) END AS application,
        n.client_name,
        CASE WHEN coalesce(s.by_client, true) OR s.by_principal THEN e.principal END AS principal,
        CASE WHEN coalesce(s.by_api, true) THEN e.api_name END AS api_name,
        CASE WHEN s.by_broker THEN e.broker_id END AS broker_id,
        CASE WHEN s.by_broker THEN e.broker_address END AS broker_address,
        CASE WHEN s.by_broker THEN e.broker_port END AS broker_port,
        count(*) AS replies,
        count(*) FILTER (WHERE e.throttle_time_ms IS NULL) AS unknown,
        count(*) FILTER (WHERE e.throttle_time_ms > 0) AS throttled,
        count(f.exchange) AS refused,
        sum(CAST(e.throttle_time_ms AS BIGINT)) FILTER (WHERE e.throttle_time_ms > 0) AS throttle_time_ms,
        max(e.throttle_time_ms) AS max_throttle_time_ms,
        sum(m.held_ns) FILTER (WHERE coalesce(m.applies, true)) AS held_ns,
        sum(m.end_ns - m.begin_ns) FILTER (
            WHERE coalesce(m.applies, true) AND m.sent_inside = 0 AND m.resumed_ns <= ms(100)
        ) AS paused_ns,
        sum(m.sent_inside) FILTER (WHERE coalesce(m.applies, true)) AS sent_inside,
        sum(least(e.latency_ns, CAST(m.throttle_time_ms AS BIGINT) * ms(1))) FILTER (WHERE NOT m.applies) AS delayed_ns,
        count(*) FILTER (WHERE NOT m.applies) AS delayed,
        count(*) FILTER (WHERE m.exchange IS NOT NULL AND m.applies IS NULL) AS unsure
    FROM exchanges AS e
        CROSS JOIN settings AS s
        LEFT JOIN applications AS a ON a.client_address = e.client_address AND a.client_id = e.client_id AND s.by_app
        LEFT JOIN client_names AS n ON n.connection = e.connection
        LEFT JOIN mutes AS m ON m.exchange = e.exchange
        LEFT JOIN refused AS f ON f.exchange = e.exchange
    WHERE e.response_time_ns IS NOT NULL
        AND e.client_address IN (SELECT client_address FROM throttled_hosts)
        AND is_client(e.role)
    GROUP BY ALL
),
muted AS (
    SELECT connection, max(life_ns) AS life_ns, TRY_CAST(sum(end_ns - begin_ns) AS BIGINT) AS throttled_ns
    FROM muted_pieces
    GROUP BY connection
),
joined AS (
    SELECT
        t.*,
        m.throttled_ns,
        CASE WHEN m.life_ns > 0 THEN CAST(m.throttled_ns AS DOUBLE) / m.life_ns END AS share
    FROM traffic AS t LEFT JOIN muted AS m ON m.connection = t.connection
)
SELECT
    client_address,
    client_id,
    application,
    client_name,
    principal,
    api_name,
    broker_id,
    broker_address,
    broker_port,
    CAST(sum(replies) AS BIGINT) AS replies,
    CAST(sum(unknown) AS BIGINT) AS unknown,
    CAST(sum(throttled) AS BIGINT) AS throttled,
    CAST(sum(refused) AS BIGINT) AS refused,
    count(DISTINCT connection) FILTER (WHERE throttled > 0) AS connections,
    CAST(sum(throttle_time_ms) AS BIGINT) AS throttle_time_ms,
    max(max_throttle_time_ms) AS max_throttle_time_ms,
    max(throttled_ns) AS throttled_ns,
    max(share) AS share,
    TRY_CAST(sum(held_ns) AS BIGINT) AS held_ns,
    TRY_CAST(sum(paused_ns) AS BIGINT) AS paused_ns,
    CAST(sum(sent_inside) AS BIGINT) AS sent_inside,
    CAST(sum(delayed) AS BIGINT) AS delayed,
    TRY_CAST(sum(delayed_ns) AS BIGINT) AS delayed_ns,
    CAST(sum(unsure) AS BIGINT) AS unsure
FROM joined CROSS JOIN settings AS wish
GROUP BY client_address, client_id, application, client_name, principal, api_name, broker_id, broker_address, broker_port, wish.sort
HAVING sum(throttled) > 0
ORDER BY
    CASE wish.sort
        WHEN 'count' THEN sum(throttled) WHEN 'share' THEN CAST(sum(throttled) AS DOUBLE) / sum(replies)
        WHEN 'max' THEN max(max_throttle_time_ms) ELSE sum(throttle_time_ms)
    END DESC NULLS LAST,
    throttle_time_ms DESC, client_id, client_address, application, client_name, principal, api_name, broker_id, broker_address, broker_port
