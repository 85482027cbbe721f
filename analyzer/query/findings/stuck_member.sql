-- severity: high
-- rank: 36
-- when: exchange_sorts having bool_or(api_key = api('JoinGroup') AND (latency_ns > s(10) OR status = 'pending'))
-- lasts: s(10)
-- says: joining group {group_id}[ ({of_application})] took {waited_ns}[ {so_far}][: {held}][ for {stuck}][, {paused}][; meanwhile the group turned others away with {name}]
-- do: {advice}
-- look: kanalyze groups[ --group {group_id}]
-- explains: slow_requests, gives_up
-- costs: rebalance, time
SELECT * FROM stuck_joins
