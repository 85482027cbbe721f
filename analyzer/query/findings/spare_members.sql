-- severity: info
-- rank: 17
-- when: group_news having bool_or(assigned_partitions = 0)
-- lasts: s(10)
-- says: {spare} of {members|member|members} of group {group_id} has no partition and gets no records: {who}; the others share {partitions|partition|partitions}
-- do: A partition belongs to one member of a group at a time, so members beyond the number of partitions wait as a reserve. If they are to work, add partitions (kafka-topics.sh --alter --partitions), or see whether each member subscribes to the topics that it should.
-- look: kanalyze groups --group {group_id}
SELECT * FROM spare_members
