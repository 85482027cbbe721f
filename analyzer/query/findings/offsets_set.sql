-- severity: info
-- rank: 22
-- when: group_requests having bool_or(api_key = api('OffsetCommit') AND coalesce(member_id, '') = '')
-- says: {who} set the committed offsets of group {group_id} for topic {topic} from {last_offset} to {set_offset} ({partitions|partition|partitions})[, so {behind|record is|records are} read again][, so {ahead|record is|records are} left out]
-- do: This client reads nothing itself: a tool (kafka-consumer-groups.sh --reset-offsets) or a program that sets offsets for others, at {client_address}. Ask who ran it, if nobody meant to.
-- look: kanalyze topics --topic {topic}
-- explains: rereads, lag_growing
-- delays: nobody
SELECT * FROM set_offsets
