-- Pairs of connections of which one (`part`) may carry on what came on the other (`from_part`) at the same time, to another endpoint:
-- a host is the server of one and the client of the other, or, as a proxy may have an address on each side, both begin within a
-- quarter of a second and are alike in size. `least_met`: so many exchanges alike are no chance; there may be `most_met`. `apart_ns`:
-- between their first packets. `may_be_two`: as well two clients that do the same: on one host, or on two. In most captures there are none.
WITH ends AS (
    SELECT
        p.part,
        p.tap_number,
        p.first_time_ns,
        p.last_time_ns,
        p.syn % 2 = 1 AS has_begin,
        p.syn % 2 = 1 AND p.close <> 'none' AND p.a_gaps + p.b_gaps = 0 AS is_whole,
        t.requests,
        (CASE WHEN t.client_side = 1 THEN t.b_framed_bytes ELSE t.a_framed_bytes END) / t.requests AS request_bytes,
        (CASE WHEN t.client_side = 1 THEN t.a_framed_bytes ELSE t.b_framed_bytes END) / t.requests AS reply_bytes,
        CASE WHEN t.client_side = 1 THEN p.b_address ELSE p.a_address END AS client_address,
        CASE WHEN t.client_side = 1 THEN p.a_address ELSE p.b_address END AS broker_address,
        CASE WHEN t.client_side = 1 THEN p.a_address ELSE p.b_address END SIMILAR TO '127\..*|::1' AS is_loopback,
        CASE WHEN t.client_side = 1 THEN p.a_port ELSE p.b_port END AS broker_port
    FROM raw_parts AS p JOIN raw_framed_parts AS t ON t.part = p.part
    WHERE t.requests > 0 AND t.client_side IS NOT NULL
),
-- Those that begin in the same quarter of a second and have the same sizes, or just begin then.
keyed AS (
    SELECT *
    FROM (
        SELECT *, count(*) OVER (PARTITION BY tap_number, quarter, size) AS alike
        FROM (
            SELECT
                e, tap_number, first_time_ns // ms(250) AS quarter, unnest([hash(requests, request_bytes, reply_bytes), 0]) AS size
            FROM ends AS e
        ) AS t
    ) AS t
    WHERE alike <= 16
),
sides AS (
    SELECT y, x, CASE WHEN y.client_address = x.client_address THEN 4 ELSE 2 END AS least_met
    FROM ends AS y JOIN ends AS x ON x.tap_number = y.tap_number AND x.broker_address = y.client_address
    UNION ALL
    SELECT y, x, CASE WHEN x.is_loopback OR y.is_loopback THEN 4 ELSE 8 END
    FROM (
        SELECT ky.e AS y, kx.e AS x
        FROM keyed AS ky
        JOIN (SELECT * REPLACE (unnest([quarter - 1, quarter, quarter + 1]) AS quarter) FROM keyed) AS kx
            ON kx.tap_number = ky.tap_number AND kx.quarter = ky.quarter AND kx.size = ky.size
    ) AS k
    -- One client has connections to several brokers, and may use them alike.
    WHERE (x.client_address <> y.client_address OR x.is_loopback)
        AND x.broker_address <> y.client_address
        AND abs(x.first_time_ns - y.first_time_ns) <= ms(250)
        AND abs(x.last_time_ns - y.last_time_ns) <= s(5)
        AND least(x.requests, y.requests) * 1.1 + 2 >= greatest(x.requests, y.requests)
        AND least(x.request_bytes, y.request_bytes) * 1.5 >= greatest(x.request_bytes, y.request_bytes)
        AND least(x.reply_bytes, y.reply_bytes) * 2 >= greatest(x.reply_bytes, y.reply_bytes)
)
SELECT
    y.part,
    x.part AS from_part,
    x.client_address,
    x.broker_address AS proxy_address,
    x.broker_port AS proxy_port,
    y.broker_address,
    y.broker_port,
    min(least_met) AS least_met,
    least(x.requests, y.requests) AS most_met,
    abs(x.first_time_ns - y.first_time_ns) AS apart_ns,
    x.client_address = x.broker_address OR x.broker_address <> y.client_address AS may_be_two,
    greatest(x.first_time_ns, y.first_time_ns) AS begin_ns,
    least(x.last_time_ns, y.last_time_ns) AS end_ns
FROM sides
WHERE (x.broker_address <> y.broker_address OR x.broker_port <> y.broker_port)
    AND x.first_time_ns <= y.last_time_ns
    AND y.first_time_ns <= x.last_time_ns
    -- Of legs of which all was captured the sizes are alike, but for what a proxy writes anew or answers itself; of others nearly so.
    AND least(x.requests, y.requests) * CASE WHEN x.is_whole AND y.is_whole THEN 1.1 ELSE 20 END + 2 >= greatest(x.requests, y.requests)
    AND least(x.request_bytes, y.request_bytes) * CASE WHEN x.is_whole AND y.is_whole THEN 1.5 ELSE 5 END
        >= greatest(x.request_bytes, y.request_bytes)
    AND least(x.reply_bytes, y.reply_bytes) * CASE WHEN x.is_whole AND y.is_whole THEN 2 ELSE 20 END
        >= greatest(x.reply_bytes, y.reply_bytes)
    -- A proxy connects when it is connected to, or asked.
    AND (NOT x.has_begin OR NOT y.has_begin OR y.first_time_ns BETWEEN x.first_time_ns - ms(1) AND x.first_time_ns + s(10))
GROUP BY ALL
