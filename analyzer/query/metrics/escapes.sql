-- Which clients escape a throttle by a new connection? One row per client and broker: `times` before the throttle time
-- of a reply was over, of `replies`. The worst first.
SELECT * FROM escaped_mutes ORDER BY weight DESC, first_time_ns
