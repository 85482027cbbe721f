-- severity: high
-- rank: 36
-- when: exchange_sorts having bool_or(api_key = api('JoinGroup') AND (latency_ns > s(10) OR status = 'pending'))
-- says: joining group {group_id}[ ({of_application})] took {waited_ns}[ {so_far}]: the other members waited[ for {stuck}], and none of them consumed
-- do: The late member was asked to rejoin (REBALANCE_IN_PROGRESS in a heartbeat reply) and did not poll: check what it does between two polls (max.poll.interval.ms).
-- look: kanalyze groups[ --group {group_id}]
-- explains: slow_requests
SELECT * FROM stuck_joins
