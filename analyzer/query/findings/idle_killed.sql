-- severity: medium
-- rank: 5
-- when: connections having bool_or(is_kafka AND (broker_retransmitted >= 3 OR requests > replies AND (client_retransmitted >= 2 OR close = 'rst'))) OR (count(*) FILTER (WHERE capture_side = 'broker' AND close = 'none' AND (is_kafka AND requests > 0 OR protocol = 'tls')) >= 2 AND (SELECT max(first_time_ns) - min(last_time_ns) FILTER (WHERE capture_side = 'broker' AND close = 'none') FROM all_connections) >= s(5)) OR bool_or(protocol = 'tls' AND (client_retransmitted >= 2 OR close = 'rst'))
-- and: dropped_candidates having count(*) > 0
-- says: connections of {who} to {broker} are dropped while idle[: what was sent after {killed_ns} without traffic never got through][: after {left_ns} without traffic the client opened a new connection, and neither used nor closed the old one], {times|time|times}[; connections idle for {survived_ns} survived][; this fits the idle timeout of {balancer}]
-- do: A firewall, NAT or load balancer on the path drops idle connections: set connections.max.idle.ms of clients and brokers below its idle timeout, or enable TCP keepalive.
-- look: kanalyze connections --client {client_address}
-- explains: unanswered, gives_up, connection_storm, slow_requests, silent_then_reset, lossy_network
-- costs: unanswered, connections, time
SELECT * FROM dropped_connections
