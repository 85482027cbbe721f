-- Jumps of the clock of a capture, each with the earlier and the later of its two times. What is longer than an hour (`PAUSE_NS` of
-- the stage) and touches the time between them has no known duration; nor has what touches a shorter jump.
SELECT
    min(time_ns) AS begin_ns,
    max(time_ns) AS end_ns,
    CASE WHEN max(time_ns) - min(time_ns) < s(3600) THEN 0 ELSE s(3600) END AS least_ns
FROM all_problems
WHERE kind IN ('clock_jumped', 'clock_jumped_to')
GROUP BY file, packet
