-- Whose idle connections are dropped on the way? One row per client and broker: `times` what was sent after
-- `killed_ns` of silence got no answer, or (`left_ns`) the client opened another connection; connections idle for
-- `survived_ns` went on. The worst first.
SELECT * FROM dropped_connections ORDER BY weight DESC, first_time_ns
