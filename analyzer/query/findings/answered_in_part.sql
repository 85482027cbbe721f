-- severity: medium
-- rank: 8
-- when: connections having count(*) FILTER (WHERE seen_from = 'syn' AND syn_ack_ns IS NULL AND broker_packets = 0 AND one_way IS NULL) >= 3 AND bool_or(syn_ack_ns IS NOT NULL)
-- says: {broker} answers some attempts to connect and others not, by turns: {times} of {attempts|attempt|attempts} from {hosts|host|hosts} had no answer
-- do: A load balancer at this address has a target that does not answer, or sends a host's own connections back to it (hairpin, client IP preservation); or a firewall or a table of translations drops SYNs. See the health of its targets, and connect to each broker directly.
-- look: kanalyze connections --broker {broker}
-- explains: broker_gone, unreachable, repeated_connects, refused_connections
-- costs: connections, connecting
SELECT * FROM answered_in_part
