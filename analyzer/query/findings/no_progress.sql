-- severity: high
-- rank: 30
-- when: partition_clients having bool_or(lingers)
-- says: {who} makes no progress in {topic}-{partition}: {fetches|Fetch|Fetches} in {lasted_ns}, none beyond offset {stuck_offset}; {what}[, the last at {last_record}][; {lag|record is|records are} still to be read]
-- do: {advice}
-- look: kanalyze topics[ --topic {topic}]
-- explains: not_asking, lag_growing, fetch_spin
-- costs: no progress
SELECT * FROM stuck_readers
