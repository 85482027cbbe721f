-- severity: medium
-- rank: 13
-- when: broker_events having max(time_ns) FILTER (WHERE broker_state = 'fenced') - min(begin_ns) FILTER (WHERE broker_state = 'fenced') >= s(10) OR max(time_ns) FILTER (WHERE broker_state = 'starting') - min(begin_ns) FILTER (WHERE broker_state = 'starting') >= s(60)
-- says: broker {node} {what} {how_often} {lasts_ns}[, {until}]
-- do: {advice} Until it is in service it leads no partition and is in no ISR.
-- look: kanalyze brokers
-- explains: no_leader*, not_enough_replicas*, out_of_sync*, failing*(LEADER_NOT_AVAILABLE)
-- costs: refused(LEADER_NOT_AVAILABLE|NOT_ENOUGH_REPLICAS)
-- A broker that starts, or comes back, is told that it is fenced for one heartbeat or two. For information while it starts, which may take
-- long where there are many logs.
SELECT
    cluster,
    node,
    host,
    broker,
    CASE broker_state WHEN 'fenced' THEN 'medium' ELSE 'info' END AS severity,
    CASE broker_state WHEN 'fenced' THEN 'asked the controller to be in service, and was kept out of it (fenced)'
        ELSE 'was starting, and did not ask to be in service yet,' END AS what,
    CASE broker_state WHEN 'fenced' THEN 'A controller keeps a broker out until it has read the metadata log up to its own registration: see how far behind it is (kafka-metadata-quorum.sh describe --replication), and the logs of both.'
        ELSE 'It reads its logs first, and recovers them if it did not stop in order (num.recovery.threads.per.data.dir): its own log says how far it is.' END AS advice,
    CASE WHEN count(*) = 1 THEN 'for' WHEN count(*) = 2 THEN 'twice, for up to' ELSE CAST(count(*) AS STRING) || ' times, for up to' END AS how_often,
    CASE WHEN max(last_time_ns) >= (SELECT max(last_time_ns) FROM time_range) - s(10) THEN 'up to the end of the capture' END AS until,
    max(lasts_ns) AS lasts_ns,
    max(lasts_ns) AS weight,
    min_by(evidence_first, (first_time_ns, evidence_first)) AS evidence_first,
    max_by(evidence_last, (last_time_ns, evidence_last)) AS evidence_last,
    min(first_time_ns) AS first_time_ns,
    max(last_time_ns) AS last_time_ns
FROM broker_states
WHERE lasts_ns >= CASE broker_state WHEN 'fenced' THEN s(10) WHEN 'starting' THEN s(60) END
GROUP BY cluster, node, host, broker, broker_state
