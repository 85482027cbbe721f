-- Who reads the same records again each time it starts, or leaves records out (`skipped`, on `skips` starts)? One row per group (or
-- client, where it is in no group that is known) and topic: `times` that it began before where it had read to, `again` records of
-- `records` read in all, from `from_offset` on. `commits` of the group; null: no group. The most first.
SELECT * FROM reread_topics ORDER BY weight DESC, first_time_ns, topic
