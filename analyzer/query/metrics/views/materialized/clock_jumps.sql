-- Jumps of the clock of a capture, each with the earlier and the later of its two times. What is longer than a month (`PAUSE_NS` of
-- the stage, 30 days) and touches the time between them has no known duration; nor has what touches a shorter jump.
SELECT
    min(time_ns) AS begin_ns,
    max(time_ns) AS end_ns,
    CASE WHEN max(time_ns) - min(time_ns) < days(30) THEN 0 ELSE days(30) END AS least_ns
FROM all_problems
WHERE kind IN ('clock_jumped', 'clock_jumped_to')
GROUP BY file, packet
