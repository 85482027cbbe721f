-- severity: info
-- rank: 12
-- when: exchange_sorts having max(latency_ns) FILTER (WHERE kind = 'fetch_tail' AND is_client) >= ms(1990) OR max(latency_ns) FILTER (WHERE kind = 'fetch_backlog' AND is_client) >= ms(490)
-- says: records reach {who} up to {max_wait_ms} late: {times} of its {fetches|Fetch|Fetches} with records were held for their whole fetch.max.wait.ms, as {why} its fetch.min.bytes
-- do: {advice}
-- look: kanalyze latency[ --client {who}]
-- explains: slow_requests(Fetch)
-- delays: nobody
SELECT * FROM held_fetches
