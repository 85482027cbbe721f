-- severity: medium
-- rank: 11
-- when: exchange_sorts having sum(slow) FILTER (WHERE kind = 'produce_acks_all') >= 3 AND bool_or(kind = 'fetch_follower') OR sum(measured) FILTER (WHERE kind = 'produce_acks_1') >= 30 AND sum(measured) FILTER (WHERE kind = 'produce_acks_all') >= 30 AND coalesce(sum(timed) FILTER (WHERE kind = 'fetch_follower'), 0) = 0
-- says: Produce with acks=all waits for a follower[: {follower} stopped fetching for up to {pause_ns}], {requests|request|requests} took up to {worst_ns}[ on {broker}][, topic {topic}][ (p99 with acks=1: {one_p99_ns})]
-- do: Check the follower[ {follower}]: its disks, garbage collection, network and replica fetchers (num.replica.fetchers). The leaders are not the cause.
-- look: kanalyze brokers
-- explains: heartbeats_missed, out_of_sync, head_of_line, head_of_line*(Produce|OffsetCommit|TxnOffsetCommit), slow_broker*, request_timed_out*, resent_batches, unanswered*(Produce), gives_up*, slow_requests*, unexplained*(Produce)
-- costs: time
SELECT * FROM slow_followers
