-- severity: high
-- rank: 22
-- when: group_requests having bool_or(api_key = api('OffsetFetch'))
-- says: offsets that group {group_id} had committed of topic {topic} are gone ({partitions|partition|partitions}; offset {last_offset} was known {before_ns} before): {who} began at {began_offset}[, so {ahead|record is|records are} left out][, so {behind|record is|records are} read again][; {deleted_by} had offsets, groups or topics deleted in between]
-- do: Brokers forget what a group committed offsets.retention.minutes (7 days by default) after its last member left or it stopped reading the topic, with the topic, and when somebody deletes it. Set the group to where it was (kafka-consumer-groups.sh --reset-offsets --to-offset), and raise that time above the longest pause of the group.
-- look: kanalyze topics --topic {topic}
-- explains: rereads, lag_growing
-- delays: nobody
SELECT * FROM forgotten_offsets
