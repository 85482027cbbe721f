-- severity: info
-- rank: 12
-- when: exchange_sorts having max(latency_ns) FILTER (WHERE kind = 'fetch_tail' AND is_client) >= ms(1990)
-- says: records reach {who} up to {max_wait_ms} late: {times} of its {fetches|Fetch|Fetches} with records were held for their whole fetch.max.wait.ms, as fewer bytes had come than its fetch.min.bytes
-- do: A broker answers when fetch.min.bytes are there, or after fetch.max.wait.ms: lower one of them where records are to arrive sooner. Where the client means to read large pieces, this is by design.
-- look: kanalyze latency[ --client {who}]
-- delays: nobody
SELECT * FROM held_fetches
