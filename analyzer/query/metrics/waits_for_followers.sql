-- Which followers do requests with acks=all wait for? One row per follower that stopped fetching, for `pause_ns` at worst: so many
-- `requests` waited, the slowest for `worst_ns`. Where no follower is in the capture, one row per broker and topic whose requests take
-- much longer than those with acks=1 (`one_p99_ns`). The most waiting first.
SELECT follower, broker, topic, pause_ns, requests, worst_ns, one_p99_ns, first_time_ns, last_time_ns
FROM slow_followers
ORDER BY weight DESC, follower, broker, topic
