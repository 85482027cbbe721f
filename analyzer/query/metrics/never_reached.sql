-- Which addresses are never reached? One row per address and port, the worst first: see the finding `unreachable`.
SELECT * FROM unreachable_endpoints ORDER BY weight DESC, first_time_ns, 1, 2, 3
