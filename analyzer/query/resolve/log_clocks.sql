-- By how much the clock of a log of requests is ahead of that of the capture, a row for each log and host: `offset_ns` at the moment
-- `at_ns` of the log, and `drift`, ns a ns. Null: too little agrees.
-- A broker has a request between the capture's last byte of it and the last byte of the reply, so each request that has the key of
-- one in the log gives bounds for the difference of the clocks. Most agree on a second; a line through them leaves out the others, which
-- are other requests of the same port and correlation id. The difference may be hours: a layout of log4j writes local time.
WITH asked AS (
    SELECT *, count(*) OVER (PARTITION BY broker_address, broker_port, client_address, client_port, api_key, correlation_id) AS times
    FROM log_exchanges
    WHERE answered_ns IS NOT NULL
),
lines AS (
    SELECT
        *,
        count(*) OVER (PARTITION BY log, broker_address, broker_port, client_address, client_port, api_key, correlation_id) AS times
    FROM raw_log_requests
    WHERE NOT is_forwarded
),
samples AS (
    SELECT
        r.log,
        r.broker_address,
        x.exchange,
        r.logged_ns,
        (CAST(r.logged_ns AS DOUBLE) - x.ended_ns) / 2 + (CAST(r.logged_ns AS DOUBLE) - r.total_ns - x.asked_ns) / 2 AS sample_ns,
        abs(CAST(x.ended_ns AS DOUBLE) - x.asked_ns - r.total_ns) AS width_ns
    FROM lines AS r
    JOIN asked AS x
        ON x.broker_address = r.broker_address
        AND x.broker_port = r.broker_port
        AND x.client_address = r.client_address
        AND x.client_port = r.client_port
        AND x.api_key = r.api_key
        AND x.correlation_id = r.correlation_id
    -- A number that is used again and again says nothing about time.
    WHERE r.times <= 4 AND x.times <= 4
        AND CAST(x.ended_ns AS DOUBLE) - x.asked_ns - r.total_ns BETWEEN -ms(50) AND s(2)
        -- Zones of time are at most 14 hours apart.
        AND abs(CAST(r.logged_ns AS DOUBLE) - x.ended_ns) < s(54000)
),
votes AS (
    SELECT log, broker_address, floor(sample_ns / s(1)) AS second, count(*) AS number, median(logged_ns) AS middle_ns
    FROM samples
    GROUP BY log, broker_address, second
),
chosen AS (
    SELECT v.log, v.broker_address, arg_max(v.second, v.votes) AS second, arg_max(v.middle_ns, v.votes) AS middle_ns
    FROM (
        SELECT a.log, a.broker_address, a.second, a.middle_ns, (a.number + sum(b.number)) - abs(a.second) / 1e12 AS votes
        FROM votes AS a
        JOIN votes AS b ON b.log = a.log AND b.broker_address = a.broker_address AND abs(b.second - a.second) <= 1
        GROUP BY a.log, a.broker_address, a.second, a.middle_ns, a.number
    ) AS v
    GROUP BY v.log, v.broker_address
),
agreeing AS (
    SELECT
        s.log,
        s.broker_address,
        s.exchange,
        s.logged_ns,
        s.sample_ns,
        s.width_ns,
        ntile(32) OVER (PARTITION BY s.log, s.broker_address ORDER BY s.logged_ns) AS slice
    FROM samples AS s
    JOIN chosen AS c ON c.log = s.log AND c.broker_address = s.broker_address
    -- A clock that drifts by more than 200 ppm is broken.
    WHERE abs(s.sample_ns - (c.second + 0.5) * s(1)) <= s(2) + abs(s.logged_ns - c.middle_ns) * 0.0002
),
narrow AS (
    SELECT *, quantile_cont(width_ns, 0.25) OVER (PARTITION BY log, broker_address, slice) AS quarter_ns FROM agreeing
),
points AS (
    SELECT log, broker_address, slice, median(logged_ns) AS at_ns, median(sample_ns) AS offset_ns
    FROM narrow
    WHERE width_ns <= quarter_ns
    GROUP BY log, broker_address, slice
),
drifts AS (
    SELECT a.log, a.broker_address, median((b.offset_ns - a.offset_ns) / (b.at_ns - a.at_ns)) AS drift
    FROM points AS a
    JOIN points AS b ON b.log = a.log AND b.broker_address = a.broker_address AND b.at_ns - a.at_ns >= s(10)
    GROUP BY a.log, a.broker_address
),
middles AS (
    -- A drift that would hardly show is none: it cannot be told from moments of whole milliseconds.
    SELECT
        p.log,
        p.broker_address,
        median(p.at_ns) AS at_ns,
        CASE WHEN abs(any_value(d.drift)) * (max(p.at_ns) - min(p.at_ns)) > ms(5) THEN any_value(d.drift) ELSE 0 END AS drift
    FROM points AS p
    LEFT JOIN drifts AS d ON d.log = p.log AND d.broker_address = p.broker_address
    GROUP BY p.log, p.broker_address
),
fitted AS (
    SELECT
        m.log,
        m.broker_address,
        m.at_ns,
        m.drift,
        median(p.offset_ns - m.drift * (p.at_ns - m.at_ns)) AS offset_ns
    FROM middles AS m
    JOIN points AS p ON p.log = m.log AND p.broker_address = m.broker_address
    GROUP BY m.log, m.broker_address, m.at_ns, m.drift
),
judged AS (
    SELECT
        f.log,
        f.broker_address,
        f.at_ns,
        f.drift,
        f.offset_ns,
        count(DISTINCT s.exchange) AS candidates,
        count(DISTINCT s.exchange)
            FILTER (WHERE abs(s.sample_ns - f.offset_ns - f.drift * (s.logged_ns - f.at_ns)) <= ms(50) + s.width_ns / 2) AS pairs,
        min(s.width_ns) FILTER (WHERE abs(s.sample_ns - f.offset_ns - f.drift * (s.logged_ns - f.at_ns)) <= ms(50) + s.width_ns / 2)
            AS least_width_ns
    FROM fitted AS f
    JOIN samples AS s ON s.log = f.log AND s.broker_address = f.broker_address
    GROUP BY f.log, f.broker_address, f.at_ns, f.drift, f.offset_ns
)
SELECT
    log,
    broker_address,
    CAST(at_ns AS BIGINT) AS at_ns,
    drift,
    CAST(offset_ns AS BIGINT) AS offset_ns,
    pairs,
    -- A request may seem to begin so much before it was asked for, or after its reply.
    CAST(ms(50) + least_width_ns / 2 AS BIGINT) AS slack_ns
FROM judged
-- A wrong log may have a few requests of the same port and number; most agree with it by chance only where there are hardly any.
WHERE 2 * pairs >= candidates AND (pairs >= 5 OR abs(offset_ns) <= s(10))
