-- Which producers wait for the end of their own transaction before? One row per client, transactional id and API: see the finding `transaction_held`.
SELECT * FROM held_transactions ORDER BY weight DESC, first_time_ns, 1, 2, 3, 4
