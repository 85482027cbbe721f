-- severity: info
-- rank: 28
-- when: exchange_sorts having bool_or(is_queued AND is_client)
-- and: queued_clients having count(*) > 0
-- says: requests of {who} to {broker} queue behind {head} on the same connection (head-of-line blocking): {queue_share} of their latency, p99 {p99_ns}[, {perhaps}]
-- do: A broker processes one request per connection at a time: use a separate client for slow or long-polling requests, or send fewer requests at once.
-- look: kanalyze latency[ --client {who}] --broker {broker}
-- explains: slow_requests, unexplained
-- costs: time
SELECT * FROM queued_requests
