-- Consumers' fetches with the number of partitions of their session that were behind its known ends when each began.
-- It is a running sum of changes, and most sessions have none: their fetches are put into no order.
WITH fetches AS MATERIALIZED (
    SELECT
        exchange,
        max(session_at) AS session_at,
        max(session_id) AS session_id,
        max(asked_ns) AS asked_ns,
        sum(behind) AS behind,
        sum(behind - behind_before) AS asked_change,
        sum(behind_after - behind) AS told_change,
        count(*) FILTER (WHERE record_bytes > 0) AS with_records,
        count(*) FILTER (WHERE record_bytes > 0 AND unknown = 1) AS with_unknown,
        max(preferred_read_replica) AS preferred_read_replica
    FROM fetch_steps
    GROUP BY exchange
),
changed AS (
    SELECT session_at, session_id
    FROM fetches
    WHERE session_id <> 0 AND (asked_change <> 0 OR told_change <> 0)
    GROUP BY session_at, session_id
)
SELECT
    f.exchange,
    f.with_records,
    f.with_unknown,
    f.preferred_read_replica,
    sum(f.asked_change + f.told_change) OVER (
        PARTITION BY f.session_at, f.session_id ORDER BY f.asked_ns, f.exchange ROWS UNBOUNDED PRECEDING
    ) - f.told_change AS partitions_behind
FROM fetches AS f JOIN changed AS c ON c.session_at = f.session_at AND c.session_id = f.session_id
UNION ALL
SELECT
    f.exchange, f.with_records, f.with_unknown, f.preferred_read_replica, CASE WHEN f.session_id = 0 THEN f.behind ELSE 0 END
FROM fetches AS f LEFT JOIN changed AS c ON c.session_at = f.session_at AND c.session_id = f.session_id
WHERE c.session_id IS NULL
