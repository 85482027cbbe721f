-- severity: high
-- rank: 18
-- when: entries having bool_or(last_stable_offset >= 0 AND last_stable_offset < high_watermark)
-- says: hanging transaction on {topic}-{partition}: for {lasted_ns}, read_committed consumers received nothing while {records|record|records} were written
-- do: Find the producer with kafka-transactions.sh find-hanging, and abort its transaction with kafka-transactions.sh abort.
-- look: kanalyze topics[ --topic {topic}]
SELECT * FROM held_back_partitions
