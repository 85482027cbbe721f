-- severity: medium
-- rank: 96
-- when: fetch_positions having bool_or(lag > 0) AND (SELECT max(last_time_ns) - min(first_time_ns) FROM all_time_range) >= impact('stuck_ns')
-- says: {who} asks for no records of {topic} for up to {longest_ns}, {times|time|times}, while {lag|record waits|records wait} there[ ({partitions|partition|partitions})]
-- do: No rule tells the cause. It is still busy with the records before, has paused these partitions, or stands still: look at its log at that time, and how long it takes for a batch (max.poll.records).
-- look: kanalyze topics[ --topic {topic}]
-- explains: lag_growing
SELECT * FROM unasked_records
