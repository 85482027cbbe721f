-- Whose connections came to nothing? One row per host and broker, the worst first: see the finding `came_to_nothing`.
SELECT * FROM vain_connections ORDER BY weight DESC, first_time_ns, 1, 2, 3
