-- severity: medium
-- rank: 12
-- when: totals having sum(throttled) >= 2
-- says: {who} at {client_address} is throttled by {broker} ({api_name}), and escapes by a new connection {times|time|times}: {replies|throttled reply|throttled replies}[ ({told_ns} in all)] on {connections|connection|connections}
-- do: Raise the quota of this user or client id (kafka-configs.sh --alter), or limit its rate; let the client wait for throttle_time_ms on the connection that it has. A throttled reply without data is no error.
-- look: kanalyze throttle[ --client {who}]
-- explains: connection_storm, metadata_storm, sends_while_muted, slow_requests
-- costs: time, connections
SELECT * FROM escaped_mutes
