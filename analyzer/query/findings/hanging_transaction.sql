-- severity: high
-- rank: 18
-- when: exchange_sorts having bool_or(api_key = api('Fetch'))
-- and: partition_ends having bool_or(is_held)
-- says: hanging transaction on {topic}-{partition}: [{left_by} ended its connection with the transaction open; ]for {lasted_ns}, read_committed consumers received nothing while {records|record|records} were written
-- do: {advice}
-- look: kanalyze topics[ --topic {topic}]
-- costs: no progress
SELECT * FROM held_back_partitions
