-- severity: high
-- rank: 3
-- when: exchange_sorts having bool_or(api_key = api('Fetch'))
-- and: partition_ends having max(end_before - end_now) >= impact('lost_records')
-- lasts: s(5)
-- says: at least {lost|offset|offsets} of {topic}-{partition} that consumers could read are gone: the partition ended at {end_before}, and {after_ns} later {broker} says that it ends at {end_now}
-- do: The leader of this partition lacks records that an earlier leader had: it was behind when it was elected (unclean.leader.election.enable), or its disk was lost. Write these records again from their source, and see that acks=all, min.insync.replicas of 2 and clean elections are set.
-- look: kanalyze topics[ --topic {topic}]
-- explains: offset_out_of_range, no_progress, lag_growing
SELECT * FROM ends_moved_back
