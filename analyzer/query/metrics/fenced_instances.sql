-- Which static members were thrown out of their group, and by whom? One row per group and group.instance.id: see the view that it reads.
-- The worst first.
SELECT * FROM fenced_instances ORDER BY weight DESC, first_time_ns
