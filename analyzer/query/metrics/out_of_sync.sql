-- Which brokers fell out of the ISR, as their leaders say? One row per broker, or leader, and cluster: `partitions` at `leaders`
-- (null: one), `times` each at most, for `longest_ns` at most (null: not known), of `away` partitions until the end. Where one leader
-- dropped several `followers` at once, follower is null. The longest first.
SELECT cluster, follower, leader, followers, leaders, partitions, topic, times, longest_ns, away, first_time_ns, last_time_ns
FROM out_of_sync
ORDER BY longest_ns DESC NULLS LAST, follower, leader
