-- Whose offset commits fail? One row per group, error and client. The worst first.
SELECT * FROM failed_commits ORDER BY weight DESC, first_time_ns
