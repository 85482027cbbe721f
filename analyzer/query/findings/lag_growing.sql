-- severity: medium
-- rank: 12
-- when: partition_clients having max(lag) >= 1000
-- says: {who} falls behind on topic {topic}: lag grew from {first_lag} to {last_lag} records in {lasted_ns} ({partitions|partition|partitions})
-- do: The consumer is slower than its producers: speed up its processing, or add group members or partitions.
-- look: kanalyze topics[ --topic {topic}]
-- explains: not_asking
-- delays: nobody
SELECT * FROM growing_lags
