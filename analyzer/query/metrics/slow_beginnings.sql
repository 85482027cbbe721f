-- Who waits long until a connection is ready? One row per client and broker, the worst first: see the finding `slow_setup`.
SELECT * FROM slow_setups ORDER BY weight DESC, first_time_ns, 1, 2, 3
