-- severity: high
-- rank: 30
-- when: fetch_positions having count(*) >= 10 AND bool_or(coalesce(new_end_offset, end_offset) - fetch_offset >= 10)
-- says: {who} makes no progress in {topic}-{partition}: {fetches|Fetch|Fetches} in {lasted_ns}, none beyond offset {stuck_offset}; {what}[, the last at {last_record}][, with {lag|record|records} ahead]
-- do: {advice}
-- look: kanalyze topics[ --topic {topic}]
-- explains: lag_growing, fetch_spin
SELECT * FROM stuck_readers
