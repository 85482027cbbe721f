-- severity: medium
-- rank: 18
-- when: assignments having (SELECT max(last_time_ns) FROM time_range) - min(time_ns) >= s(60)
-- lasts: s(60)
-- says: {who} (group {group_id}) is assigned topic {topic}, but has not fetched {partitions|partition|partitions} of it for {waited_ns}
-- do: Check whether the member has paused the partitions, is stuck in processing, or cannot reach their leader.[ {hint}]
-- look: kanalyze groups[ --group {group_id}]
-- explains: not_asking
SELECT
    *,
    CASE WHEN knows_no_offsets
        THEN 'It asks for no offsets either: its library may know no ListOffsets that this broker takes, as librdkafka before 1.8.2'
            || ' with Kafka 4. Upgrade it.'
    END AS hint
FROM unfetched_partitions
