-- Which clients escape a throttle by a new connection? One row per client and broker: of `replies` with a throttle time on
-- `connections`, `told_ns` in all, `times` the client opened another connection before that time was over.
-- A broker mutes the connection, so nothing waits on the new one, and no mute is long enough to be told as such. The client closed
-- the connection itself. Twice at least, with a second of throttle time in all.
WITH replies AS (
    SELECT
        x.connection,
        x.exchange,
        x.client_id,
        x.client_address,
        x.broker_address,
        x.broker_port,
        x.api_name,
        x.throttle_time_ms,
        x.response_time_ns,
        c.last_time_ns AS ended_ns,
        x.response_time_ns + least(CAST(x.throttle_time_ms AS BIGINT) * ms(1), max_bigint() - x.response_time_ns) AS until_ns
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.throttle_time_ms > 0 AND x.response_time_ns IS NOT NULL AND is_client(x.role)
        AND c.close <> 'none' AND c.closed_by = 'client'
),
begun AS (
    SELECT n.connection, n.client_id, c.client_address, c.broker_address, c.broker_port, c.first_time_ns
    FROM connections AS c JOIN connection_requests AS n ON n.connection = c.connection
    WHERE c.is_kafka AND c.seen_from = 'syn'
),
escapes AS (
    SELECT r.exchange, count(b.connection) AS begun
    FROM replies AS r
    LEFT JOIN begun AS b
        ON b.client_address = r.client_address AND b.client_id IS NOT DISTINCT FROM r.client_id
        AND b.broker_address = r.broker_address AND b.broker_port = r.broker_port AND b.connection <> r.connection
        AND b.first_time_ns >= r.ended_ns AND b.first_time_ns < r.until_ns
    WHERE r.ended_ns < r.until_ns
    GROUP BY r.exchange
)
SELECT
    who(r) AS who,
    r.client_address,
    r.broker_address || ':' || CAST(r.broker_port AS STRING) AS broker,
    max(r.api_name) AS api_name,
    count(*) AS replies,
    count(DISTINCT r.connection) AS connections,
    count(*) FILTER (WHERE e.begun > 0) AS times,
    TRY_CAST(CAST(sum(r.throttle_time_ms) AS DECIMAL(38, 0)) * ms(1) AS BIGINT) AS told_ns,
    count(*) AS weight,
    min_by(r.exchange, (r.response_time_ns, r.exchange)) AS evidence_first,
    max_by(r.exchange, (r.throttle_time_ms, r.exchange)) AS evidence_longest,
    min(r.response_time_ns) AS first_time_ns,
    max(r.response_time_ns) AS last_time_ns
FROM replies AS r LEFT JOIN escapes AS e ON e.exchange = r.exchange
GROUP BY r.client_id, r.client_address, r.broker_address, r.broker_port
HAVING count(*) FILTER (WHERE e.begun > 0) >= 2 AND sum(r.throttle_time_ms) >= 1000
