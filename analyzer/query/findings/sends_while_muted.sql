-- severity: medium
-- rank: 32
-- when: totals having sum(throttled) > 0
-- and: mutes having sum(sent_inside) FILTER (WHERE applies) >= 3
-- says: {who} sends while it is throttled, {requests|request|requests}: it does not pause as KIP-219 asks, so its requests wait at the broker
-- do: Use a client that respects throttle_time_ms, or expect the throttle time to be part of its latency.
-- look: kanalyze throttle[ --client {who}]
-- explains: slow_requests
-- costs: time
SELECT * FROM senders_while_muted
