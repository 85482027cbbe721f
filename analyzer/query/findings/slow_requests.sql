-- severity: info
-- rank: 99
-- when: exchanges having max(latency_ns) >= ms(500) OR bool_or(status = 'pending' AND api_key NOT IN (api('Fetch', 'JoinGroup', 'SyncGroup', 'ShareFetch')))
-- says: {who} waits for {api_name} at {broker} for up to {longest_ns}: {slow} of {requests|request|requests} took 500 ms or longer, {waited_ns} of its time[; {left_waiting}]
-- do: No rule tells the cause. See where the time goes (`kanalyze latency`), open the evidence, and look into the log of the broker at that time.
-- look: kanalyze latency --client {who} --api {api_name}
-- What others explain stands below them. Medium where three requests took 5 s or longer. What has no reply
-- may have been captured elsewhere: it counts for information.
SELECT * FROM slow_requests
