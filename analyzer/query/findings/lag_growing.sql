-- severity: medium
-- rank: 12
-- when: fetch_positions having max(coalesce(lag, new_end_offset - fetch_offset)) >= 1000
-- says: {who} falls behind on topic {topic}: lag grew from {first_lag} to {last_lag} records in {lasted_ns} ({partitions|partition|partitions})
-- do: The consumer is slower than its producers: speed up its processing, or add group members or partitions.
-- look: kanalyze topics[ --topic {topic}]
SELECT * FROM growing_lags
