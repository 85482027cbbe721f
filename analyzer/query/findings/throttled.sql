-- severity: high
-- rank: 10
-- when: totals having sum(throttled) > 0
-- says: {who}[ at {host}] is throttled {muted_share} of its time ({apis}[, user {principal}]): {replies|throttled reply|throttled replies}[ ({told_ns} in all)], {held_ns} spent waiting
-- do: {advice}
-- look: kanalyze throttle[ --client {who}]
-- explains: head_of_line, sends_while_muted, slow_broker, request_timed_out, lag_growing, slow_requests
-- costs: time
SELECT * FROM throttled_clients
