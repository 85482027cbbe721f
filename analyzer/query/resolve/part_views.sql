-- Parts of connections that were captured several times on their way (`view_members`): a row per part, and which part gives the rows
-- of its connection. That is the one in which most replies met their request; then one with requests, the one with the
-- fewest lost bytes, and the one nearest to the client. Capture points that `--tap` names never share a connection.
-- On the way to the broker a request passes the points in their order, its reply in the other order. Half the difference of
-- both delays is the time between two points, whatever their clocks say.
WITH delays AS (
    SELECT
        m.part,
        CAST(round((
            percentile_cont(0.5) WITHIN GROUP (ORDER BY x.request_time_ns - y.request_time_ns)
            - percentile_cont(0.5) WITHIN GROUP (ORDER BY x.response_time_ns - y.response_time_ns)
        ) / 2) AS BIGINT) AS behind_ns,
        count(*) AS met,
        -- All exchanges lie within those of the other part: those of another client come earlier by turns.
        min(x.request_time_ns - y.request_time_ns) >= 0 AND max(x.response_time_ns - y.response_time_ns) <= 0 AS is_within,
        max(x.request_time_ns - y.request_time_ns) <= 0 AND min(x.response_time_ns - y.response_time_ns) >= 0 AS is_around
    FROM view_members AS m
    JOIN view_times AS x ON x.part = m.part AND x.response_time_ns IS NOT NULL
    JOIN view_times AS y
        ON y.part = m.first_part AND y.correlation_id = x.correlation_id AND y.api_key = x.api_key AND y.response_time_ns IS NOT NULL
    WHERE m.part <> m.first_part
    GROUP BY m.part
),
placed AS (
    SELECT
        m.part,
        CASE WHEN m.is_sure OR (d.met = t.matched AND d.behind_ns <> 0 AND d.is_within <> d.is_around) THEN m.first_part ELSE m.part END
            AS first_part,
        t.matched,
        p.a_gap_bytes + p.b_gap_bytes AS gap_bytes,
        p.view_number,
        p.first_time_ns,
        CASE WHEN m.part = m.first_part THEN 0 ELSE d.behind_ns END AS behind_ns,
        CASE WHEN t.client_side = 1 THEN p.b_address ELSE p.a_address END AS client_address,
        CASE WHEN t.client_side = 1 THEN p.b_port ELSE p.a_port END AS client_port,
        t.requests > 0 AS has_requests,
        -- The address to which a client sent what its own host redirected is that of what came back.
        CASE WHEN h.part IS NOT NULL THEN h.reached_address WHEN k.part IS NOT NULL THEN k.broker_address
            WHEN t.client_side = 1 THEN p.a_address ELSE p.b_address END AS broker_address,
        CASE WHEN h.part IS NOT NULL THEN h.reached_port WHEN k.part IS NOT NULL THEN k.broker_port
            WHEN t.client_side = 1 THEN p.a_port ELSE p.b_port END AS broker_port
    FROM view_members AS m
    JOIN raw_parts AS p ON p.part = m.part
    JOIN raw_framed_parts AS t ON t.part = m.part
    LEFT JOIN delays AS d ON d.part = m.part
    LEFT JOIN silent_halves AS h ON h.part = m.part
    LEFT JOIN silent_halves AS k ON k.other = m.part
),
ends AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY first_part ORDER BY matched DESC, has_requests DESC, gap_bytes, behind_ns NULLS LAST, view_number, first_time_ns, part
        ) = 1 AS is_main,
        CASE WHEN strpos(client_address, ':') > 0 THEN concat('[', client_address, ']:', client_port)
            ELSE concat(client_address, ':', client_port) END AS client,
        CASE WHEN strpos(broker_address, ':') > 0 THEN concat('[', broker_address, ']:', broker_port)
            ELSE concat(broker_address, ':', broker_port) END AS broker
    FROM placed
),
-- Which of its addresses are not those of the row.
translated AS (
    SELECT
        x.first_part,
        string_agg(DISTINCT x.client, ', ' ORDER BY x.client) FILTER (WHERE x.client <> m.client) AS client,
        string_agg(DISTINCT x.broker, ', ' ORDER BY x.broker) FILTER (WHERE x.broker <> m.broker) AS broker
    FROM ends AS x JOIN ends AS m ON m.first_part = x.first_part AND m.is_main
    GROUP BY x.first_part
),
-- A leg may have requests that the leg of the row lacks, as something of both was not captured: then its rest stays a connection
-- of its own (`forwarded`), of one leg at most.
rests AS (
    SELECT part, main_part
    FROM (
        SELECT
            e.part,
            m.part AS main_part,
            row_number() OVER (PARTITION BY e.first_part ORDER BY count(*) DESC, e.part) AS place
        FROM ends AS e
        JOIN ends AS m ON m.first_part = e.first_part AND m.is_main
        JOIN view_times AS x ON x.part = e.part
        LEFT JOIN view_times AS y
            ON y.part = m.part AND y.correlation_id = x.correlation_id AND y.api_key = x.api_key
        WHERE NOT e.is_main AND (e.client <> m.client OR e.broker <> m.broker) AND y.part IS NULL
        GROUP BY e.first_part, e.part, m.part
    ) AS x
    WHERE place = 1
)
SELECT
    e.part,
    e.is_main OR r.part IS NOT NULL AS is_main,
    count(*) OVER (PARTITION BY e.first_part) AS views,
    CASE WHEN count(e.behind_ns) OVER (PARTITION BY e.first_part) > 1
        THEN max(e.behind_ns) OVER (PARTITION BY e.first_part) - min(e.behind_ns) OVER (PARTITION BY e.first_part)
        END AS view_delay_ns,
    CASE WHEN r.part IS NULL THEN t.client END AS translated_client,
    CASE WHEN r.part IS NULL THEN t.broker END AS translated_broker,
    r.main_part AS rest_of,
    h.reached_address,
    h.reached_port,
    h.packets AS reached_packets,
    h.bytes AS reached_bytes,
    h.wire_bytes AS reached_wire_bytes,
    h.last_time_ns AS reached_last_ns,
    h.close AS reached_close,
    h.closed_by AS reached_closed_by,
    h.end_time_ns AS reached_end_ns,
    h.syn_ack_ns AS reached_syn_ack_ns
FROM ends AS e
JOIN translated AS t ON t.first_part = e.first_part
LEFT JOIN rests AS r ON r.part = e.part
LEFT JOIN silent_halves AS h ON h.part = e.part
