-- Which acknowledged records are gone? One row per partition: offsets that a broker gave to other records after it, or another one, had
-- acknowledged them. The most first.
SELECT * FROM rewritten_offsets ORDER BY weight DESC, first_time_ns, topic, partition
