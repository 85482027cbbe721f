-- severity: medium
-- rank: 5
-- when: connections having bool_or(closed_by = 'broker' AND last_time_ns - close_time_ns >= s(1) AND close_time_ns - first_time_ns >= s(5))
-- says: {broker} closed {times|connection|connections} of {who} after {idle_ns} without traffic (connections.max.idle.ms of the broker); {later_ns} later the client still used {them}, and what it sent was lost
-- do: This is no firewall, the broker did what it is set to: set connections.max.idle.ms of this client below the broker's (600000 unless it was changed), so that the client closes first, and see why it did not notice the FIN (a blocked event loop, a pool that does not test its connections).
-- look: kanalyze connections --client {who}
-- explains: unanswered, connection_storm
-- costs: connections, unanswered
SELECT * FROM idle_closes
