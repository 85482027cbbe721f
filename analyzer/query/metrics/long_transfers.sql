-- Between whom do messages take long on their way? One row per client and broker, the worst first: see the finding `slow_transfers`.
SELECT * FROM slow_transfers ORDER BY weight DESC, first_time_ns, 1, 2, 3
