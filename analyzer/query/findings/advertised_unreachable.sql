-- severity: high
-- rank: 8
-- when: brokers having (SELECT max(last_time_ns - first_time_ns) FROM all_time_range) >= s(10) AND (bool_or(host IN ('localhost', '127.0.0.1', '::1') OR host NOT LIKE '%:%' AND translate(host, '0123456789.', '') <> '') OR (SELECT count(*) FROM connections WHERE is_kafka IS NOT TRUE AND seen_from = 'syn' AND syn_ack_ns IS NULL) > 0)
-- says: {client_address}[ ({who})][ ({clients} clients)] gets the advertised address {advertised}[, which it never reaches ({times|attempt|attempts})][, {own_host}][: it keeps asking {asked_again} for metadata][, and never connects there, perhaps because it cannot resolve that name: silent since {told_by} sent that address]
-- do: Correct advertised.listeners of the brokers: each listener must advertise an address that its clients can resolve and reach. To see whether a host can resolve a name, run `getent hosts NAME` there.
-- look: kanalyze connections
-- explains: refused_connections, unreachable*, connection_storm, metadata_storm, unanswered
-- costs: connections, unanswered, repeated(Metadata)
SELECT * FROM unreached_addresses
