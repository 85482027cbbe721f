-- severity: info
-- rank: 16
-- when: batches having sum(records) FILTER (WHERE side = 'request') >= 1000 AND max(partition) FILTER (WHERE side = 'request') >= 2
-- says: topic {topic}: partition {partition} gets {records|record|records}, {times_median} times the median of its {partitions|partition|partitions}[: {writer_share} of them from {writer}]
-- do: Probably one key has most of the records: choose a different key, or split this one over several partitions.
-- look: kanalyze topics[ --topic {topic}]
-- delays: nobody
SELECT * FROM skewed_writes
