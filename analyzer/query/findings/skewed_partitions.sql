-- severity: info
-- rank: 16
-- when: written_sums having (sum(records) >= 1000 AND sum(batches) >= 30 AND max(partition) >= 2) OR (count(*) = 0 AND (SELECT count(*) FROM exchanges WHERE api_key = api('Produce') AND request_decoded = 'truncated') >= 500)
-- says: topic {topic}: partition {partition} gets[ {records|record|records}][ {written_bytes}], {times_median} times the median of its {partitions|partition|partitions}[: {writer_share} of them from {writer}]
-- do: Probably one key has most of the records: choose a different key, or split this one over several partitions.
-- look: kanalyze topics[ --topic {topic}]
-- delays: nobody
SELECT * FROM skewed_writes
