-- Whose requests queue behind which others on the same connection? One row per client and broker of which requests
-- with a p99 of `p99_ns` spent half of their time and more (`queue_share`) behind `head`. The worst first.
SELECT * FROM queued_requests ORDER BY weight DESC, first_time_ns
