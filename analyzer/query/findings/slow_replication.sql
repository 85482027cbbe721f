-- severity: medium
-- rank: 11
-- when: exchanges having count(*) FILTER (WHERE kind = 'produce_acks_all' AND latency_ns >= ms(100) AND coalesce(throttle_time_ms, 0) = 0) >= 3 AND bool_or(kind = 'fetch_follower') OR count(*) FILTER (WHERE kind = 'produce_acks_1' AND broker_ns IS NOT NULL) >= 30 AND count(*) FILTER (WHERE kind = 'produce_acks_all' AND broker_ns IS NOT NULL) >= 30 AND count(*) FILTER (WHERE kind = 'fetch_follower' AND request_time_ns IS NOT NULL) = 0
-- says: Produce with acks=all waits for a follower[: {follower} stopped fetching for up to {pause_ns}], {requests|request|requests} took up to {worst_ns}[ on {broker}][, topic {topic}][ (p99 with acks=1: {one_p99_ns})]
-- do: Check the follower[ {follower}]: its disks, garbage collection, network and replica fetchers (num.replica.fetchers). The leaders are not the cause.
-- look: kanalyze brokers
-- explains: head_of_line*, slow_broker*, request_timed_out*, resent_batches, unanswered*(Produce), slow_requests*
SELECT * FROM slow_followers
