-- Which consumers ask for nothing while records wait? One row per client and topic, the worst first: see the finding `not_asked`.
SELECT * FROM unasked_records ORDER BY weight DESC, first_time_ns, 1, 2, 3
