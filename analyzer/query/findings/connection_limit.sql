-- severity: medium
-- rank: 8
-- when: connections having count(*) FILTER (WHERE seen_from = 'syn' AND broker_stream_bytes = 0 AND close <> 'none' AND syn_ack_ns IS NOT NULL) >= 5
-- says: {broker} hangs up at once on new connections of {client_address}[ ({who})], {times|time|times}, while it serves {served|other connection|other connections} of this host: most likely its limit of connections per address
-- do: Raise max.connections.per.ip of the brokers (max.connections.per.ip.overrides for this host alone), or let this host open fewer connections: one client for each process.
-- look: kanalyze connections --client {client_address}
-- explains: unanswered, connection_storm, metadata_storm, tls_failed
SELECT * FROM hung_up_hosts
