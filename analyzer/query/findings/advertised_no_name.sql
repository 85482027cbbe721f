-- severity: info
-- rank: 26
-- when: brokers having bool_or(host <> 'localhost' AND host NOT LIKE '%:%' AND translate(host, '0123456789.', '') <> '')
-- and: all_totals having bool_or(is_client AND metadata_requests > 0 AND metadata_requests * 8 >= exchanges)
-- lasts: s(10)
-- says: {client_address}[ ({who})] gets the advertised address {advertised}[, and keeps asking {asked_again} for metadata of topics alone][, and is silent since {told_by} sent it that address]: perhaps it cannot resolve that name
-- do: If this client does not work, see on its host whether the name can be resolved (`getent hosts NAME`), and correct advertised.listeners of the brokers: each listener must advertise an address that its clients can resolve and reach.
-- look: kanalyze connections
-- costs: repeated(Metadata)
SELECT * FROM unresolved_names
