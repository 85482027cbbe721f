-- severity: high
-- rank: 4
-- when: exchanges having max(latency_ns) >= ms(800) OR min(request_end_ns) FILTER (WHERE status = 'pending' AND api_key IN (api('Produce', 'ListOffsets', 'Metadata', 'OffsetCommit', 'OffsetFetch', 'FindCoordinator', 'Heartbeat', 'ApiVersions'))) <= (SELECT max(last_time_ns) FROM connections) - ms(800) OR (SELECT count(*) FROM unread_silences WHERE coalesce(end_ns - asked_time_ns, s(1)) >= s(1)) >= 2
-- says: broker {broker}[, {or_follower},] stalled for {still_ns}[, {until}], {times|time|times}: it answered {answered}, while {requests|request|requests} from {clients|client|clients} waited[, {unread}]
-- do: {advice}
-- look: kanalyze {verb} --broker {broker}
-- explains: head_of_line*, slow_broker, slow_replication*, request_timed_out*, unanswered, client_not_reading, slow_requests
SELECT * FROM stalled_brokers
