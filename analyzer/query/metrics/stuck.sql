-- Which consumers make no progress? One row per client and partition: `fetches` in `lasted_ns`, none beyond
-- `stuck_offset`; `what` they got meanwhile. The worst first.
SELECT * FROM stuck_readers ORDER BY weight DESC, first_time_ns
