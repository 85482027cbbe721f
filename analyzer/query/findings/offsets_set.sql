-- severity: info
-- rank: 22
-- when: group_requests having bool_or(api_key = api('OffsetCommit') AND coalesce(member_id, '') = '')
-- says: {who} set the committed offsets of group {group_id} for topic {topic} from {last_offset} to {set_offset} ({partitions|partition|partitions})[, {behind|record|records} back][, {ahead|record|records} ahead]
-- do: When the group starts it goes on from there: back means records read again, ahead means records left out. This client reads nothing itself: a tool (kafka-consumer-groups.sh --reset-offsets) or a program that sets offsets for others, at {client_address}. Ask who ran it, if nobody meant to.
-- look: kanalyze topics --topic {topic}
-- explains: rereads, lag_growing
-- delays: nobody
SELECT * FROM set_offsets
