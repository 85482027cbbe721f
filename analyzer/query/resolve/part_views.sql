-- Parts of connections that were captured at several points of their way (views): a row per part, and which part gives the rows
-- of its connection. That is the one in which most replies met their request; then the one with the fewest lost bytes; then
-- the one nearest to the client. Capture points that `--tap` names never share a connection.
-- On the way to the broker a request passes the points in their order, its reply in the other order. Half the difference of
-- both delays is the time between two points, whatever their clocks say.
WITH delays AS (
    SELECT
        m.part,
        CAST(round((
            percentile_cont(0.5) WITHIN GROUP (ORDER BY x.request_time_ns - y.request_time_ns)
            - percentile_cont(0.5) WITHIN GROUP (ORDER BY x.response_time_ns - y.response_time_ns)
        ) / 2) AS BIGINT) AS behind_ns
    FROM view_members AS m
    JOIN view_times AS x ON x.part = m.part
    JOIN view_times AS y
        ON y.part = m.first_part AND y.correlation_id = x.correlation_id AND y.api_key = x.api_key
    WHERE m.part <> m.first_part
    GROUP BY m.part
),
placed AS (
    SELECT
        m.part,
        m.first_part,
        t.matched,
        p.a_gap_bytes + p.b_gap_bytes AS gap_bytes,
        p.view_number,
        CASE WHEN m.part = m.first_part THEN 0 ELSE d.behind_ns END AS behind_ns
    FROM view_members AS m
    JOIN raw_parts AS p ON p.part = m.part
    JOIN raw_framed_parts AS t ON t.part = m.part
    LEFT JOIN delays AS d ON d.part = m.part
)
SELECT
    part,
    row_number() OVER (
        PARTITION BY first_part ORDER BY matched DESC, gap_bytes, behind_ns NULLS LAST, view_number, part
    ) = 1 AS is_main,
    count(*) OVER (PARTITION BY first_part) AS views,
    CASE WHEN count(behind_ns) OVER (PARTITION BY first_part) > 1
        THEN max(behind_ns) OVER (PARTITION BY first_part) - min(behind_ns) OVER (PARTITION BY first_part)
        END AS view_delay_ns
FROM placed
