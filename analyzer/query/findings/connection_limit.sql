-- severity: medium
-- rank: 8
-- when: connections having count(*) FILTER (WHERE seen_from = 'syn' AND broker_stream_bytes = 0 AND close <> 'none' AND syn_ack_ns IS NOT NULL) >= 5
-- says: {broker} hangs up {how} on new connections of {client_address}[ ({who})], {times|time|times}, while it serves {served|other connection|other connections} of this host: most likely its limit of {most}
-- do: {advice}
-- look: kanalyze connections --client {client_address}
-- explains: unanswered*(ApiVersions), connection_storm, metadata_storm, tls_failed
-- costs: connections, unanswered
SELECT * FROM hung_up_hosts
