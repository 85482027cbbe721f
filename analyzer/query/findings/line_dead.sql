-- severity: medium
-- rank: 7
-- when: connections having bool_or(is_kafka AND client_retransmitted + broker_retransmitted >= 3) OR bool_or(client_missing_ids > 0 OR protocol = 'tls' AND client_retransmitted >= 3)
-- and: exchange_sorts having max(latency_ns) FILTER (WHERE is_of_broker) >= s(3) OR min(request_end_ns) FILTER (WHERE status = 'pending') <= (SELECT last_time_ns FROM time_range) - impact('stuck_ns') OR (SELECT count(*) FROM unread_silences WHERE end_ns - begin_ns >= s(1)) > 0 OR (SELECT count(*) FROM connections WHERE is_client(role) AND (broker_retransmitted >= 5 AND broker_needless <= 2 OR client_missing_ids = 1 AND client_gaps = 0)) > 0
-- says: no packet got through between {client_address}[ ({who})] and {broker}[ and {other_brokers|other broker|other brokers}] for [{least_ns} to ][{at_most} ]{silent_ns}[, {until}], {times|time|times}: what was sent in that time had to be sent again[, while {others|other host was|other hosts were} answered][; {alone}][, {unread}]
-- do: Check the network of this client at that time: a link that was down, a route that changed, a firewall whose rules were reloaded, a machine that was migrated, a tunnel that drops large packets (ping -M do -s 1472).
-- look: kanalyze connections --client {client_address}
-- explains: heartbeats_missed*, out_of_sync*, head_of_line, unanswered, gives_up, request_timed_out, lossy_network, broker_stalled*, far_broker, slow_requests, answered_in_part, repeated_connects, silent_then_reset
-- costs: unanswered, connections, time
SELECT * FROM dead_lines
