-- severity: medium
-- rank: 18
-- when: assignments having (SELECT max(last_time_ns) FROM time_range) - min(time_ns) >= s(60)
-- lasts: s(60)
-- says: {who} (group {group_id}) is assigned topic {topic}, but has not fetched {partitions|partition|partitions} of it for {waited_ns}[; {it_went} before that, without leaving the group]
-- do: {advice}[ {hint}]
-- look: kanalyze groups[ --group {group_id}]
-- explains: not_asking
SELECT
    *,
    CASE WHEN is_gone THEN 'it went' END AS it_went,
    CASE WHEN is_gone
        THEN 'A static member (group.instance.id) that goes keeps its partitions until its session ends (session.timeout.ms): let each instance come back under the same group.instance.id, lower that time, or remove the member (removeMembersFromConsumerGroup of the admin client).'
        ELSE 'Check whether the member has paused the partitions, is stuck in processing, or cannot reach their leader.'
    END AS advice,
    CASE WHEN knows_no_offsets
        THEN 'It asks for no offsets either: its library may know no ListOffsets that this broker takes, as librdkafka before 1.8.2'
            || ' with Kafka 4. Upgrade it.'
    END AS hint
FROM unfetched_partitions
