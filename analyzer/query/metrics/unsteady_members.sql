-- Which members did their groups go on without, and why? One row per client, group and `why`: late_poll (no poll within `limit_ms`, its
-- max.poll.interval.ms), expired (no heartbeat, `limit_ms` is its session timeout), crashed (its process ended, and it joined anew without
-- a leave), passing (it joined and left, and `others` had to rebalance each time), returned (it joined anew when its connection had ended). `silent_ns`: the longest time without a word of it;
-- `apart_ns` between two of `times` (crashed: the least, else the mean). Null is unknown, or means nothing there.
SELECT
    group_id, who, 'late_poll' AS why, times, gap_ns AS silent_ns, interval_ms AS limit_ms, CAST(NULL AS BIGINT) AS apart_ns,
    CAST(NULL AS BIGINT) AS others, CAST(NULL AS STRING) AS back, first_time_ns, last_time_ns
FROM late_polls
UNION ALL
SELECT
    group_id, who, 'expired' AS why, times, silence_ns AS silent_ns, session_timeout_ms AS limit_ms, CAST(NULL AS BIGINT) AS apart_ns,
    CAST(NULL AS BIGINT) AS others, back, first_time_ns, last_time_ns
FROM expired_sessions
UNION ALL
SELECT
    group_id, who, 'crashed' AS why, times, CAST(NULL AS BIGINT) AS silent_ns, CAST(NULL AS INTEGER) AS limit_ms, apart_ns,
    CAST(NULL AS BIGINT) AS others, CAST(NULL AS STRING) AS back, first_time_ns, last_time_ns
FROM crashed_members
UNION ALL
SELECT
    group_id, who, 'passing' AS why, times, CAST(NULL AS BIGINT) AS silent_ns, CAST(NULL AS INTEGER) AS limit_ms, apart_ns,
    others, CAST(NULL AS STRING) AS back, first_time_ns, last_time_ns
FROM passing_members
UNION ALL
SELECT
    group_id, who, 'returned' AS why, times, CAST(NULL AS BIGINT) AS silent_ns, CAST(NULL AS INTEGER) AS limit_ms, apart_ns,
    CAST(NULL AS BIGINT) AS others, CAST(NULL AS STRING) AS back, first_time_ns, last_time_ns
FROM returning_members
ORDER BY group_id, first_time_ns, who, why
