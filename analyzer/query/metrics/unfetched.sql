-- Who does not fetch what it is assigned? One row per group, client and topic: `partitions` were not fetched for
-- `waited_ns`. The worst first.
SELECT * FROM unfetched_partitions ORDER BY weight DESC, first_time_ns
