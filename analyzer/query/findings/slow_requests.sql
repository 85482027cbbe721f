-- severity: info
-- rank: 99
-- when: exchange_sorts having sum(long_ns) FILTER (WHERE is_client AND (api_key NOT IN (api('Fetch', 'JoinGroup', 'SyncGroup', 'ShareFetch')) OR kind IS NULL OR kind = 'fetch_backlog')) >= impact('slow_ns') OR min(request_end_ns) FILTER (WHERE status = 'pending' AND is_client AND api_key NOT IN (api('Fetch', 'JoinGroup', 'SyncGroup', 'ShareFetch'))) <= (SELECT max(last_time_ns) FROM time_range) - s(1)
-- says: {who} waits for {api_name} at {broker} for up to {longest_ns}: {slow} of {requests|request|requests} took 500 ms or longer, {waited_ns} of its time[; {left_waiting}]
-- do: No rule tells the cause. See where the time goes (`kanalyze latency`), open the evidence, and look into the log of the broker at that time.
-- look: kanalyze latency --client {who} --api {api_name}
-- explains: unexplained
-- What others explain stands below them. Medium where three requests took 5 s or longer. What has no reply
-- may have been captured elsewhere: it counts for information.
SELECT * FROM slow_requests
