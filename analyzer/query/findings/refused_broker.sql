-- severity: medium
-- rank: 8
-- when: errors having bool_or(code IN (error('DUPLICATE_BROKER_REGISTRATION', 'INCONSISTENT_CLUSTER_ID', 'INCONSISTENT_VOTER_SET', 'BROKER_ID_NOT_REGISTERED', 'STALE_BROKER_EPOCH', 'CLUSTER_AUTHORIZATION_FAILED', 'INVALID_REGISTRATION')))
-- lasts: s(10)
-- says: {broker} does not take the broker or controller at {client_address} into its cluster: {api_name} fails with {name}, {times|time|times} ({who})
-- do: {advice}
-- look: kanalyze connections --client {client_address}
-- explains: unexplained, repetition
-- costs: refused
SELECT * FROM refused_brokers
