-- severity: high
-- rank: 4
-- when: exchanges having max(latency_ns) >= 800000000 OR min(request_end_ns) FILTER (WHERE status = 'pending' AND api_key IN (0, 2, 3, 8, 9, 10, 12, 18)) <= (SELECT max(last_time_ns) FROM connections) - 800000000 OR (SELECT count(*) FROM unread_silences WHERE coalesce(end_ns - asked_time_ns, 1000000000) >= 1000000000) >= 2
-- says: broker {broker}[, {or_follower},] stalled for {still_ns}[, {until}], {times|time|times}: it answered {answered}, while {requests|request|requests} from {clients|client|clients} waited[, {unread}]
-- do: {advice}
-- look: kanalyze {verb} --broker {broker}
-- explains: head_of_line*, slow_broker, slow_replication*, request_timed_out*, unanswered, client_not_reading
SELECT * FROM stalled_brokers
