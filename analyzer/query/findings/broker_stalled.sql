-- severity: high
-- rank: 4
-- when: exchange_sorts having max(latency_ns) FILTER (WHERE is_overdue OR is_of_broker) >= ms(800) OR min(request_end_ns) FILTER (WHERE status = 'pending' AND api_key IN (api('Produce', 'ListOffsets', 'Metadata', 'OffsetCommit', 'OffsetFetch', 'FindCoordinator', 'Heartbeat', 'ApiVersions'))) <= (SELECT max(last_time_ns) FROM connections) - ms(800) OR (SELECT count(*) FROM unread_silences WHERE coalesce(end_ns - asked_time_ns, s(1)) >= s(1)) >= 2
-- says: broker {broker}[, {or_follower},] stopped answering[ {unanswered}] {how_often} {still_ns}[, {until}]; {requests|request|requests} of {clients|client|clients} waited[, {unread}]
-- do: {advice}
-- look: kanalyze {verb} --broker {broker}
-- explains: heartbeats_missed, out_of_sync*, head_of_line, head_of_line*(Produce|OffsetCommit|TxnOffsetCommit), slow_broker, slow_replication*, request_timed_out*, unanswered, gives_up, client_not_reading, broker_not_reading, slow_requests, unexplained
-- costs: time, unanswered, connections
SELECT
    *,
    CASE WHEN answered <> 'no request' THEN 'Produce, though not other requests,' END AS unanswered,
    CASE times WHEN 1 THEN 'for' WHEN 2 THEN 'twice, for up to' ELSE CAST(times AS STRING) || ' times, for up to' END AS how_often
FROM stalled_brokers
