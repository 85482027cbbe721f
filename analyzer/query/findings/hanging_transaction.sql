-- severity: high
-- rank: 18
-- when: entries having bool_or(last_stable_offset >= 0 AND last_stable_offset < high_watermark)
-- says: hanging transaction on {topic}-{partition}: [{left_by} ended its connection with the transaction open; ]for {lasted_ns}, read_committed consumers received nothing while {records|record|records} were written
-- do: {advice}
-- look: kanalyze topics[ --topic {topic}]
SELECT * FROM held_back_partitions
