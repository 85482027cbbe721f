-- severity: info
-- rank: 9
-- when: fetch_sums having bool_or(of_consumer AND last_time_ns <= (SELECT max(last_time_ns) FROM time_range) - impact('stuck_ns'))
-- and: idle_readers having count(*) > 0
-- lasts: s(10)
-- says: {who} (group {group_id}) has not asked for {topic}-{partition} for {idle_ns}, up to the end of the capture, while {records|record was|records were} written there; its heartbeats go on
-- do: The client is slower than its producers, or something holds up its poll loop: look at how long it works on its records (max.poll.records), and whether it has paused the partition.
-- look: kanalyze topics --topic {topic}
SELECT * FROM unasked_records
