-- severity: info
-- rank: 98
-- when: exchanges having count(*) FILTER (WHERE api_key NOT IN (api('Produce', 'Fetch', 'Heartbeat', 'OffsetCommit'))) >= 50
-- says: {who} sends {api_name} again and again, {mean_per_s} for {lasted_ns} ({requests|request|requests})
-- do: No rule tells the cause. Look at the log of this client for what makes it ask again, and whether it could keep the answer.
-- look: kanalyze latency --client {who} --api {api_name}
SELECT * FROM repeated_requests
