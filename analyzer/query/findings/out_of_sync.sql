-- severity: medium
-- rank: 13
-- when: broker_events having bool_or(event = 'isr')
-- says: [broker {follower} fell][leader {dropper} dropped {followers|broker|brokers}] out of the ISR of {partitions|partition|partitions}[ of topic {topic}][, which broker {leader} leads][, which {leaders|broker leads|brokers lead}], {how_often}[ {longest_ns}][, {away|is|are} still out]
-- do: A leader drops a broker that has not caught up for replica.lag.time.max.ms: {advice} Until it is back there is a copy less, and writes with acks=all are refused below min.insync.replicas.
-- look: kanalyze brokers
-- explains: not_enough_replicas*, head_of_line, head_of_line*(Produce|OffsetCommit|TxnOffsetCommit), unanswered, slow_requests, unexplained, unanswered*(Produce|OffsetCommit|TxnOffsetCommit), slow_requests*(Produce|OffsetCommit|TxnOffsetCommit)
-- costs: refused(NOT_ENOUGH_REPLICAS|NOT_ENOUGH_REPLICAS_AFTER_APPEND)
SELECT
    * EXCLUDE (leader),
    CASE WHEN followers IS NULL THEN leader END AS leader,
    CASE WHEN followers IS NOT NULL THEN leader END AS dropper,
    CASE times WHEN 1 THEN 'once' WHEN 2 THEN 'twice' ELSE CAST(times AS STRING) || ' times' END
        || CASE WHEN longest_ns IS NULL THEN '' WHEN times = 1 THEN ', for' ELSE ', for up to' END AS how_often,
    CASE WHEN followers IS NULL THEN 'check the broker''s disks, garbage collection and network, num.replica.fetchers, and whether a throttle for replication was left behind (follower.replication.throttled.rate).'
        ELSE 'a leader that stood still itself, or lost its network, drops several at once: check its garbage collection, disks and links.' END AS advice,
    partitions AS weight
FROM out_of_sync
