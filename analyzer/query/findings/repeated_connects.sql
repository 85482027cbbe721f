-- severity: medium
-- rank: 33
-- when: connections having count(*) FILTER (WHERE seen_from = 'syn' AND syn_ack_ns IS NULL AND is_kafka AND broker_packets > 0 AND one_way IS NULL) >= 5
-- says: {broker} takes connections only at the second SYN or later: {times} of {connections|connection|connections}[, all of {who}], had to wait for up to {longest_ns}
-- do: Where many connect at once, the queue of new connections overflows: see `nstat -az TcpExtListenOverflows` at the broker, raise socket.listen.backlog.size and net.core.somaxconn, let clients back off. Else a translation of addresses reuses ports too early, or a firewall drops SYNs.
-- look: kanalyze connections
-- explains: slow_setup
-- costs: connecting
SELECT * FROM repeated_connects
