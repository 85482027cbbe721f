-- severity: high
-- rank: 2
-- when: asked_versions having count(DISTINCT connection) FILTER (WHERE api_key = api('Produce')) >= 2 AND max(last_time_ns) FILTER (WHERE api_key = api('Produce')) - min(first_time_ns) FILTER (WHERE api_key = api('Produce')) > s(1)
-- and: repeated_offsets having count(*) > 0
-- says: acknowledged records of {topic}-{partition} are gone: {broker} gave [{at_least} ]{lost|offset|offsets} from {lost_from} on to other records, {after_ns} after {old_broker} had acknowledged the last of them to {who}
-- do: The leader of this partition lacks records that were acknowledged: it was behind when it was elected (acks=1, or unclean.leader.election.enable), or its disk was lost. Write the records of these offsets again from their source, and see that acks=all, min.insync.replicas of 2 and clean elections are set.
-- look: kanalyze topics[ --topic {topic}]
-- explains: end_moved_back, offset_out_of_range, no_progress, lag_growing
-- costs: data
SELECT * FROM rewritten_offsets
