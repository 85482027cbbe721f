-- Which clients read the same partitions for a group without being its members? One row per group and topic: see the finding `shared_group_id`.
SELECT * FROM lone_readers ORDER BY weight DESC, first_time_ns, 1, 2
