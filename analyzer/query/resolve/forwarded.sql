-- Exchanges that a proxy carried on: each on the leg behind the proxy, with the same exchange on the leg before it. Only what cannot
-- be chance counts: nearly all exchanges of both legs have the same ids, APIs, versions and sizes, each lies within the other's time
-- (so do nearly all that were answered: who asks for no reply may write the same to two brokers by turns), and there are enough of them between these endpoints (more where no host is server of one and client of the other). Two nodes of
-- a cluster are no proxies of each other, whatever their clients send at the same time. `proxy_ns`: by how much the latency before the
-- proxy is longer than that behind it; `way_ns`: the shortest round trip to what is behind it. Null: not seen. Where the capture tells
-- milliseconds alone, a proxy takes less than its clock shows: the order of the packets in the file tells which leg came first.
-- A proxy that reads what it carries on may number requests anew and change their sizes: then the order of the requests of each API
-- counts, which is that of the other leg, moved by what the capture lacks at most. Where no host is the server of one leg and another's
-- client, it may as well be one client that asks two brokers the same, or two that work in step: then a node must be known at two
-- addresses, as by a proxy that writes its own into Metadata, or the sizes must vary, and by as much on both legs.
WITH RECURSIVE pairs AS (
    SELECT *
    FROM forward_pairs AS f
    WHERE NOT EXISTS (SELECT 1 FROM part_views AS v WHERE NOT v.is_main AND (v.part = f.part OR v.part = f.from_part))
        AND NOT EXISTS (
            SELECT 1
            FROM raw_broker_facts AS a JOIN raw_broker_facts AS b ON b.node_id <> a.node_id AND b.node_id >= 0
            WHERE a.node_id >= 0 AND a.host = f.proxy_address AND a.port = f.proxy_port AND b.host = f.broker_address AND b.port = f.broker_port
        )
),
ends AS (
    SELECT proxy_address AS host, proxy_port AS port FROM pairs WHERE is_renumbered
    UNION
    SELECT broker_address AS host, broker_port AS port FROM pairs WHERE is_renumbered
),
nodes AS (
    SELECT DISTINCT f.host, f.port, f.node_id
    FROM raw_broker_facts AS f JOIN ends AS e ON e.host = f.host AND e.port = f.port
    WHERE f.node_id >= 0
),
known_twice AS (
    SELECT DISTINCT a.host AS proxy_address, b.host AS broker_address, b.port AS broker_port
    FROM nodes AS a JOIN nodes AS b ON b.node_id = a.node_id
    WHERE a.host <> b.host OR a.port <> b.port
),
-- Clients that number nothing cannot be told apart.
asked AS (
    SELECT *, count(*) OVER (PARTITION BY part, api_key, correlation_id) AS alike, CAST(0 AS BIGINT) AS nth, CAST(0 AS BIGINT) AS moved
    FROM view_times
),
ordered AS (
    SELECT
        *,
        CAST(1 AS BIGINT) AS alike,
        row_number() OVER (PARTITION BY part, api_key, api_version ORDER BY request_time_ns, exchange) AS nth,
        unnest(range(-3, 4)) AS moved
    FROM view_times
    WHERE part IN (SELECT unnest([part, from_part]) FROM pairs WHERE is_renumbered)
),
same AS (
    SELECT f.part, f.from_part, f.is_renumbered, y, x
    FROM pairs AS f
    JOIN asked AS y ON y.part = f.part
    JOIN asked AS x
        ON x.part = f.from_part AND x.correlation_id = y.correlation_id AND x.api_key = y.api_key AND x.api_version = y.api_version
    WHERE NOT f.is_renumbered AND x.alike <= 16 AND y.alike <= 16 AND x.request_bytes = y.request_bytes
    UNION ALL
    SELECT f.part, f.from_part, f.is_renumbered, y, x
    FROM pairs AS f
    JOIN ordered AS y ON y.part = f.part
    JOIN ordered AS x
        ON x.part = f.from_part AND x.nth = y.nth + y.moved AND x.api_key = y.api_key AND x.api_version = y.api_version AND x.moved = 0
    WHERE f.is_renumbered
),
timely AS (
    SELECT part, from_part, is_renumbered, y, x, count(*) OVER (PARTITION BY part, from_part, is_renumbered, y.api_key, y.moved) AS usual
    FROM same
    -- Packets of different queues of a network card may be captured out of order.
    WHERE y.request_time_ns BETWEEN x.request_time_ns - 50000 AND x.request_end_ns + s(10)
        AND coalesce(y.response_time_ns <= x.response_time_ns + 50000, true)
),
met AS (
    SELECT
        part,
        from_part,
        is_renumbered,
        y.exchange,
        x.exchange AS from_exchange,
        y.request_time_ns - x.request_time_ns AS in_ns,
        x.response_time_ns - y.response_time_ns AS out_ns,
        x.request_number AS from_number,
        x.request_bytes AS from_bytes,
        y.request_bytes - x.request_bytes AS grown,
        is_renumbered AND y.api_key IN (api('ApiVersions'), api('SaslHandshake'), api('SaslAuthenticate')) AS may_be_own,
        coalesce(x.request_split = y.request_split AND x.request_number < y.request_number, false) AS is_behind,
        x.request_time_ns % ms(1) + y.request_time_ns % ms(1) + coalesce(y.response_time_ns, 0) % ms(1) = 0 AS is_coarse,
        row_number() OVER (
            PARTITION BY from_part, is_renumbered, y.exchange ORDER BY usual DESC, x.request_time_ns DESC, x.exchange
        ) AS place,
        row_number() OVER (
            PARTITION BY part, is_renumbered, x.exchange ORDER BY usual DESC, y.request_time_ns, y.exchange
        ) AS from_place
    FROM timely
),
within AS (
    SELECT * FROM met WHERE place = 1 AND from_place = 1
),
counts AS (
    SELECT
        f.part,
        f.from_part,
        f.is_renumbered,
        count(*) FILTER (WHERE a.part = f.part) AS exchanges,
        count(*) FILTER (WHERE a.part = f.from_part) AS from_exchanges,
        count(a.response_time_ns) FILTER (WHERE a.part = f.part) AS replies,
        count(a.response_time_ns) FILTER (WHERE a.part = f.from_part) AS from_replies
    FROM pairs AS f
    JOIN view_times AS a ON (a.part = f.part OR a.part = f.from_part) AND a.request_time_ns BETWEEN f.begin_ns AND f.end_ns
    WHERE NOT (f.is_renumbered AND a.api_key IN (api('ApiVersions'), api('SaslHandshake'), api('SaslAuthenticate')))
    GROUP BY f.part, f.from_part, f.is_renumbered
),
alike AS (
    SELECT
        f.*,
        w.met,
        w.sure,
        least(c.exchanges, c.from_exchanges) AS asked,
        -- No program takes less time to carry bytes on; where nothing is answered, this time is all that is known.
        w.in_ns >= w.least_ns AND coalesce(w.out_ns >= w.least_ns, w.in_ns <= ms(20))
            AND w.met_replies * 4 >= least(c.replies, c.from_replies) * 3 AS takes_time,
        NOT f.is_renumbered OR NOT f.may_be_two OR k.proxy_address IS NOT NULL OR w.have_sizes AS is_no_other,
        row_number() OVER (PARTITION BY f.part, f.proxy_address, f.proxy_port ORDER BY w.met DESC, f.is_renumbered, w.in_ns, f.from_part) AS place,
        row_number() OVER (PARTITION BY f.from_part, f.broker_address, f.broker_port ORDER BY w.met DESC, f.is_renumbered, w.in_ns, f.part) AS from_place
    FROM pairs AS f
    JOIN (
        SELECT
            part,
            from_part,
            is_renumbered,
            count(*) AS met,
            count(*) FILTER (WHERE NOT may_be_own) AS sure,
            count(out_ns) FILTER (WHERE NOT may_be_own) AS met_replies,
            median(in_ns) AS in_ns,
            median(out_ns) AS out_ns,
            count(*) >= 10 AND min(grown) = max(grown)
                AND percentile_disc(0.1) WITHIN GROUP (ORDER BY from_bytes) < percentile_disc(0.9) WITHIN GROUP (ORDER BY from_bytes)
                AS have_sizes,
            CASE WHEN bool_and(is_coarse) AND count(*) FILTER (WHERE is_behind) * 4 >= count(*) * 3 THEN 0 ELSE 5000 END AS least_ns
        FROM within
        GROUP BY part, from_part, is_renumbered
    ) AS w ON w.part = f.part AND w.from_part = f.from_part AND w.is_renumbered = f.is_renumbered
    JOIN counts AS c ON c.part = f.part AND c.from_part = f.from_part AND c.is_renumbered = f.is_renumbered
    LEFT JOIN known_twice AS k
        ON k.proxy_address = f.proxy_address AND k.broker_address = f.broker_address AND k.broker_port = f.broker_port
),
-- `is_alike`: by itself; `is_sure`: of what was asked between these ends, enough is, and there is enough of it (of a proxy that numbers
-- anew on all its ports together).
judged AS (
    SELECT
        *,
        takes_time AND is_no_other AND sure * 4 >= asked * 3 AS is_alike,
        is_alike
            AND sum(met) FILTER (WHERE is_alike) OVER near >= least_met
            AND ((least_met < 8 AND NOT is_renumbered) OR sum(sure) FILTER (WHERE is_alike) OVER ends * 10 >= sum(asked) OVER ends * 9)
            AS is_sure
    FROM alike
    WHERE place = 1 AND from_place = 1
    WINDOW ends AS (PARTITION BY proxy_address, proxy_port, broker_address, broker_port, is_renumbered),
        near AS (PARTITION BY proxy_address, CASE WHEN NOT is_renumbered THEN proxy_port END, broker_address, broker_port, is_renumbered)
),
-- A proxy that numbers anew has a port to begin at beside those of its brokers: there clients ask but once or twice.
proved AS (
    SELECT part, from_part, is_renumbered
    FROM judged AS j
    WHERE is_sure
        OR (is_renumbered AND is_alike AND sure = asked AND EXISTS (
            SELECT 1
            FROM judged AS k
            WHERE k.is_sure AND k.is_renumbered AND k.proxy_address = j.proxy_address AND k.broker_address = j.broker_address
                AND k.broker_port = j.broker_port
        ))
),
-- The nearest leg before each.
steps AS (
    SELECT part, exchange, from_part, from_exchange
    FROM (
        SELECT w.*, row_number() OVER (PARTITION BY w.exchange ORDER BY w.in_ns, w.from_number DESC, w.from_exchange) AS nearest
        FROM within AS w JOIN proved AS p ON p.part = w.part AND p.from_part = w.from_part AND p.is_renumbered = w.is_renumbered
    ) AS x
    WHERE nearest = 1
),
ways AS (
    SELECT part, exchange, from_part, from_exchange, 1 AS proxies FROM steps
    UNION ALL
    SELECT w.part, w.exchange, s.from_part, s.from_exchange, w.proxies + 1
    FROM ways AS w JOIN steps AS s ON s.exchange = w.from_exchange
    WHERE w.proxies < 8
),
-- Of a leg behind a translation whose rest is a connection of its own: what the other leg has too.
rests AS (
    SELECT
        x.part,
        x.exchange,
        y.part AS from_part,
        y.exchange AS from_exchange,
        row_number() OVER (PARTITION BY x.exchange ORDER BY abs(x.request_time_ns - y.request_time_ns), y.exchange) AS place
    FROM part_views AS v
    JOIN view_times AS x ON x.part = v.part
    JOIN view_times AS y ON y.part = v.rest_of AND y.correlation_id = x.correlation_id AND y.api_key = x.api_key
    WHERE v.rest_of IS NOT NULL
)
SELECT
    w.part,
    w.exchange,
    w.from_part,
    w.from_exchange,
    w.proxies,
    greatest(x.response_time_ns - x.request_end_ns - (y.response_time_ns - y.request_end_ns), 0) AS proxy_ns,
    least(p.syn_ack_ns, CASE WHEN t.client_side = 1 THEN p.b_way_least_ns ELSE p.a_way_least_ns END) AS way_ns
FROM (
    SELECT
        part,
        exchange,
        max_by(from_part, proxies) AS from_part,
        max_by(from_exchange, proxies) AS from_exchange,
        CAST(max(proxies) AS INTEGER) AS proxies
    FROM ways
    GROUP BY part, exchange
    UNION ALL
    SELECT part, exchange, from_part, from_exchange, 0 FROM rests WHERE place = 1
) AS w
JOIN view_times AS y ON y.exchange = w.exchange
JOIN view_times AS x ON x.exchange = w.from_exchange
JOIN raw_parts AS p ON p.part = w.part
JOIN raw_framed_parts AS t ON t.part = w.part
