-- Which groups had committed offsets that are no longer there? One row per group and topic: see the finding `offsets_forgotten`.
SELECT * FROM forgotten_offsets ORDER BY weight DESC, first_time_ns, 1, 2
