-- Which consumers are given records late, by their own settings? One row per client: see the finding `held_for_bytes`.
SELECT * FROM held_fetches ORDER BY weight DESC, first_time_ns, 1
