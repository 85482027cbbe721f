-- Who gives up transactions? One row per client, the worst first: see the finding `aborted_transactions`.
SELECT * FROM given_up_transactions ORDER BY weight DESC, first_time_ns, 1, 2, 3
