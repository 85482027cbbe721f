-- severity: medium
-- rank: 12
-- when: partition_clients having max(lag) >= 1000 OR (SELECT max(committed_lag) FROM committed_offsets) >= 100
-- says: {who} falls behind on topic {topic}: {which} grew[ from {first_lag}] to {last_lag} records in {lasted_ns} ({partitions|partition|partitions})
-- do: {advice}
-- look: kanalyze topics[ --topic {topic}]
-- explains: not_asking
-- delays: nobody
SELECT
    *,
    CASE sort WHEN 'fetched' THEN 'lag' ELSE 'the lag of what it commits' END AS which,
    concat(
        CASE sort WHEN 'committed' THEN 'It fetched these records ahead and has not worked on them, or does not commit what it has. ' END,
        'The consumer is slower than its producers: speed up its processing, or add group members or partitions.'
    ) AS advice
FROM growing_lags
