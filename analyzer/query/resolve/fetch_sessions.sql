-- Consumers' fetches with the number of partitions of their session that were behind its known ends when each began.
WITH changes AS (
    SELECT
        session_address,
        session_port,
        session_id,
        asked_ns,
        exchange,
        behind,
        record_bytes,
        unknown,
        preferred_read_replica,
        behind - coalesce(lag(behind_after) OVER by_partition, 0) AS asked_change,
        behind_after - behind AS told_change
    FROM fetch_steps
    WINDOW by_partition AS (
        PARTITION BY session_address, session_port, session_id, topic_key, partition ORDER BY asked_ns, exchange
    )
),
fetches AS (
    SELECT
        session_address,
        session_port,
        session_id,
        asked_ns,
        exchange,
        sum(behind) AS behind,
        sum(asked_change) AS asked_change,
        sum(told_change) AS told_change,
        count(*) FILTER (WHERE record_bytes > 0) AS with_records,
        count(*) FILTER (WHERE record_bytes > 0 AND unknown = 1) AS with_unknown,
        max(preferred_read_replica) AS preferred_read_replica
    FROM changes
    GROUP BY session_address, session_port, session_id, asked_ns, exchange
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
            PARTITION BY session_address, session_port, session_id ORDER BY asked_ns, exchange ROWS UNBOUNDED PRECEDING
        ) - told_change
    END AS partitions_behind
FROM fetches
