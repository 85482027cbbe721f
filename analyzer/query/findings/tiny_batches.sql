-- severity: info
-- rank: 14
-- when: exchange_sorts having sum(tiny) FILTER (WHERE api_key = api('Produce')) >= 100
-- says: {who} sends Produce requests of less than 1 kB, up to {worst_per_s} ({requests|request|requests})
-- do: Set linger.ms to a few milliseconds on this producer, so that more records go into each request.
-- look: kanalyze clients[ --client {who}]
-- delays: nobody
SELECT * FROM tiny_requests
