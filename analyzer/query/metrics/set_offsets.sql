-- Which committed offsets were set by a client that reads none of them? One row per group, topic and client: see the finding `offsets_set`.
SELECT * FROM set_offsets ORDER BY weight DESC, first_time_ns, 1, 2, 3, 4
