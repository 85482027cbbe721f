-- severity: medium
-- rank: 22
-- when: group_requests having bool_or(api_key = api('OffsetCommit'))
-- says: {clients|client|clients}, {who} among them, read the same {partitions|partition|partitions} of {topic} for group {group_id} at the same time, without being its members: each overwrites the offsets that the others commit
-- do: They assign partitions themselves under one group.id, so after a restart records are read twice or not at all. Give each of them a group.id of its own, or let them subscribe, so that the group shares partitions out.
-- look: kanalyze topics --topic {topic}
-- delays: nobody
SELECT * FROM lone_readers
