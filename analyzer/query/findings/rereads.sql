-- severity: medium
-- rank: 32
-- when: partition_clients having max(connections) >= 3
-- says: {who} reads topic {topic}[ again from offset {from_offset} on each time it starts, {times|time|times}: {again|record|records} of {records} were read before][ from its end on each time it starts, {skips|time|times}, and leaves out {skipped|record|records} in between][; commits of group {group_id}: {committed}]
-- do: {advice}
-- look: kanalyze topics[ --topic {topic}]
-- explains: restarting_member
-- delays: nobody
SELECT * FROM reread_topics
