-- Which clients take long to read replies? One row per client and connection: `times` replies took a second and more
-- to arrive while its receive window was full, `receive_ns` at most. The worst first.
SELECT * FROM slow_readers ORDER BY weight DESC, first_time_ns
