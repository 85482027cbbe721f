-- severity: medium
-- rank: 32
-- when: fetched_partitions having max(connections) >= 4
-- says: {who} reads topic {topic} again from offset {from_offset} on each time it starts, {times|time|times}: {again|record|records} of {records} were read before[; commits of group {group_id}: {committed}]
-- do: Let the consumer commit what it has processed (enable.auto.commit, or a commit behind each batch), and close it in order, so that it goes on where it stopped. Where it is meant to read all at each start, as a cache does, this is by design.
-- look: kanalyze topics[ --topic {topic}]
SELECT * FROM reread_topics
