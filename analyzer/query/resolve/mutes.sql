-- One row per reply with a throttle time: the time for which its connection is muted, and what the client did in that time. A
-- request is inside when it was sent at least 5 ms before the end, as the throttle time is in whole milliseconds.
WITH throttled AS (
    SELECT
        x.exchange,
        x.part,
        x.response_time_ns AS begin_ns,
        x.response_time_ns
            + least(CAST(x.throttle_time_ms AS BIGINT) * ms(1), greatest(l.open_until_ns - x.response_time_ns, 0)) AS end_ns,
        x.throttle_time_ms,
        l.connection,
        l.mutes
    FROM throttled_requests AS x JOIN connection_context AS l ON l.part = x.part
    WHERE x.throttle_time_ms > 0 AND x.response_time_ns IS NOT NULL AND l.is_kafka
),
requests AS (
    SELECT
        part,
        exchange,
        request_time_ns AS time_ns,
        lead(request_time_ns) OVER by_request AS next_begin_ns,
        lead(coalesce(request_end_ns, request_time_ns)) OVER by_request AS next_request_ns,
        lead(response_time_ns) OVER by_request AS next_response_ns
    FROM throttled_requests
    WHERE request_time_ns IS NOT NULL
    WINDOW by_request AS (PARTITION BY part ORDER BY request_time_ns, exchange)
),
-- Requests, and begins and ends of mutes, in the order of time; begins and ends before requests.
moments AS (
    SELECT part, exchange, 'request' AS edge, time_ns, 1 AS request FROM requests
    UNION ALL
    SELECT part, exchange, 'begin' AS edge, begin_ns AS time_ns, 0 AS request FROM throttled
    UNION ALL
    SELECT part, exchange, 'end' AS edge, end_ns - ms(5) AS time_ns, 0 AS request FROM throttled
),
counted AS (
    SELECT
        part,
        exchange,
        edge,
        sum(request) OVER (PARTITION BY part ORDER BY time_ns, request ROWS UNBOUNDED PRECEDING) AS requests_before,
        min(CASE WHEN request = 1 THEN time_ns END) OVER (
            PARTITION BY part ORDER BY time_ns DESC, request DESC ROWS UNBOUNDED PRECEDING
        ) AS next_request_ns
    FROM moments
),
edges AS (
    SELECT
        part,
        exchange,
        max(CASE WHEN edge = 'begin' THEN requests_before END) AS before_begin,
        max(CASE WHEN edge = 'end' THEN requests_before END) AS before_end,
        max(CASE WHEN edge = 'end' THEN next_request_ns END) AS resumed_at_ns
    FROM counted
    WHERE edge <> 'request'
    GROUP BY part, exchange
)
SELECT
    t.exchange,
    t.connection,
    t.begin_ns,
    t.end_ns,
    t.throttle_time_ms,
    t.mutes AS applies,
    -- A reply inside the time shows that the connection was not muted any more. Without a mute there is no wait. What ends when the
    -- broker reads again waited since it began: more than its buffer takes.
    CASE
        WHEN t.mutes IS NOT FALSE THEN greatest(
            least(t.end_ns, coalesce(r.next_response_ns, t.end_ns))
                - greatest(t.begin_ns, CASE
                    WHEN r.next_request_ns BETWEEN t.end_ns - ms(5) AND t.end_ns + ms(100) THEN r.next_begin_ns
                    ELSE coalesce(r.next_request_ns, t.end_ns)
                END),
            0
        )
    END AS held_ns,
    CASE WHEN t.mutes IS NOT FALSE THEN CAST(greatest(e.before_end - e.before_begin, 0) AS BIGINT) END AS sent_inside,
    CASE WHEN t.mutes IS NOT FALSE AND e.resumed_at_ns IS NOT NULL THEN greatest(e.resumed_at_ns - t.end_ns, 0) END
        AS resumed_ns
FROM throttled AS t
LEFT JOIN requests AS r ON r.part = t.part AND r.exchange = t.exchange
LEFT JOIN edges AS e ON e.part = t.part AND e.exchange = t.exchange
