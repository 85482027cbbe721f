-- severity: info
-- rank: 99
-- when: exchanges having max(latency_ns) >= s(1)
-- says: {who} waits for {api_name} at {broker} for up to {longest_ns}: {slow} of {requests|request|requests} took a second or longer[, {waited_ns} in all]
-- do: No rule tells the cause. See where the time goes (`kanalyze latency`), open the evidence, and look into the log of the broker at that time.
-- look: kanalyze latency --client {who} --api {api_name}
-- What others explain stands below them. Medium where three requests took 5 s or longer.
SELECT * FROM slow_requests
