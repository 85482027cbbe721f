-- Where do read_committed consumers receive nothing, although records are written? One row per partition whose last
-- stable offset stood still for `lasted_ns` while `records` were written. The worst first.
SELECT * FROM held_back_partitions ORDER BY weight DESC, first_time_ns
