-- severity: info
-- rank: 14
-- when: exchanges having count(*) FILTER (WHERE api_name = 'Produce' AND request_bytes < 1000) >= 100
-- says: {who} sends Produce requests of less than 1 kB, up to {worst_per_s} ({requests|request|requests})
-- do: Set linger.ms to a few milliseconds on this producer, so that more records go into each request.
-- look: kanalyze clients[ --client {who}]
SELECT * FROM tiny_requests
