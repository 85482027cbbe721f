-- severity: medium
-- rank: 42
-- when: totals having sum(metadata_requests) >= 30 AND (SELECT max(requests) FROM (SELECT sum(metadata_requests) AS requests FROM totals WHERE is_client GROUP BY connection) AS c) >= 30
-- says: {who} refreshes its metadata up to {worst_per_s} over {over_ns} on one connection ({requests|Metadata request|Metadata requests})
-- do: Look at its errors: a topic that does not exist, or a partition without a leader, causes this. Where there are none, look at the client's metadata.max.age.ms (librdkafka: topic.metadata.refresh.interval.ms), and at code that asks for metadata with every record.
-- look: kanalyze clients[ --client {who}]
-- explains: repetition(Metadata)
-- delays: nobody
-- costs: repeated(Metadata)
SELECT * FROM metadata_storms
