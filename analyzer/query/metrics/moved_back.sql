-- Which partitions end before where they had ended? One row per partition, the worst first: see the finding `end_moved_back`.
SELECT * FROM ends_moved_back ORDER BY weight DESC, first_time_ns, 1, 2, 3
