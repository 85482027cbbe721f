-- Consumers' fetches with the number of partitions of their session that were behind its known ends when each began.
WITH fetches AS (
    SELECT
        session_at,
        session_id,
        asked_ns,
        exchange,
        sum(behind) AS behind,
        sum(behind - behind_before) AS asked_change,
        sum(behind_after - behind) AS told_change,
        count(*) FILTER (WHERE record_bytes > 0) AS with_records,
        count(*) FILTER (WHERE record_bytes > 0 AND unknown = 1) AS with_unknown,
        max(preferred_read_replica) AS preferred_read_replica
    FROM fetch_steps
    GROUP BY session_at, session_id, asked_ns, exchange
)
SELECT
    exchange,
    session_id,
    with_records,
    with_unknown,
    preferred_read_replica,
    CASE
        WHEN session_id = 0 THEN behind
        ELSE sum(asked_change + told_change) OVER (
            PARTITION BY session_at, session_id ORDER BY asked_ns, exchange ROWS UNBOUNDED PRECEDING
        ) - told_change
    END AS partitions_behind
FROM fetches
