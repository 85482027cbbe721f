-- Which clients send bytes that are no request? One row per client and broker: `lost_bytes` on `connections`, first
-- at `packet`. The worst first.
SELECT * FROM broken_requests ORDER BY weight DESC, first_time_ns
