-- severity: high
-- rank: 8
-- when: broker_events having max(offline_log_dirs) > 0
-- says: broker {node} tells the controller that {offline_log_dirs|log directory|log directories} of it failed: it goes on without the partitions there
-- do: See its log for the I/O error, and the disk: full, read-only or broken. It takes a directory back only when it is started again.
-- look: kanalyze brokers
-- explains: no_leader*, leader_loop*, not_enough_replicas*, failing*(KAFKA_STORAGE_ERROR|NOT_LEADER_OR_FOLLOWER|LEADER_NOT_AVAILABLE), out_of_sync, slow_requests, metadata_storm*, unexplained
-- costs: refused(KAFKA_STORAGE_ERROR|LEADER_NOT_AVAILABLE), repeated
SELECT
    cluster,
    node,
    host,
    broker,
    max(offline_log_dirs) AS offline_log_dirs,
    max(lasts_ns) AS weight,
    min_by(evidence_first, (first_time_ns, evidence_first)) AS evidence_first,
    max_by(evidence_last, (last_time_ns, evidence_last)) AS evidence_last,
    min(first_time_ns) AS first_time_ns,
    max(last_time_ns) AS last_time_ns
FROM broker_states
WHERE offline_log_dirs > 0
GROUP BY cluster, node, host, broker
