-- severity: medium
-- rank: 13
-- when: exchange_sorts having sum(exchanges) FILTER (WHERE api_key = api('BrokerHeartbeat')) >= 5
-- and: heartbeats having max(silent_ns) >= s(3)
-- says: broker {node} sent the controller no heartbeat {how_often} {lasts_ns}[, {until}] (one each {usual_ns} otherwise)
-- do: The whole broker stood still, or its network: see its garbage collection, its host (steal, a paused virtual machine) and its links. After broker.session.timeout.ms (9 s by default) without a heartbeat the controller takes it out of service.
-- look: kanalyze brokers
-- explains: out_of_sync, shutdown_held*, request_timed_out*, unanswered, slow_requests, slow_setup, head_of_line, unexplained
-- costs: time, unanswered, connecting
-- For information where no silence was longer than 9 s.
SELECT
    cluster,
    node,
    host,
    broker,
    CASE WHEN max(lasts_ns) >= s(9) THEN 'medium' ELSE 'info' END AS severity,
    CASE WHEN count(*) = 1 THEN 'for' WHEN count(*) = 2 THEN 'twice, for up to' ELSE CAST(count(*) AS STRING) || ' times, for up to' END AS how_often,
    CASE WHEN NOT bool_and(is_over) THEN 'up to the end' END AS until,
    max(lasts_ns) AS lasts_ns,
    bool_and(is_over) AS is_over,
    max(usual_ns) AS usual_ns,
    max(lasts_ns) AS weight,
    max_by(evidence_first, (lasts_ns, evidence_first)) AS evidence_before,
    max_by(evidence_last, (lasts_ns, evidence_first)) AS evidence_after,
    min(first_time_ns) AS first_time_ns,
    max(last_time_ns) AS last_time_ns
FROM broker_states
WHERE broker_state = 'silent'
GROUP BY cluster, node, host, broker
