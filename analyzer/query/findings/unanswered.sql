-- severity: medium
-- rank: 22
-- when: exchange_sorts having bool_or(status IN ('closed', 'abandoned') AND NOT (status = 'closed' AND api_key IN (api('Fetch', 'JoinGroup', 'SyncGroup', 'ShareFetch'))))
-- says: {requests|request|requests} ({api_name}) had no reply when the connection ended[, {abandoned} of them abandoned by the client]: {who}[ and {others|other client|other clients}]; longest wait {longest_ns}[; {cut_connections|connection|connections} to {cut_brokers|broker|brokers} were reset within {together_ns}]
-- do: {advice}
-- look: kanalyze unanswered --api {api_name}
-- costs: unanswered
-- See the view for what is no loss.
SELECT
    api_name,
    cut AS requests,
    nullif(abandoned, 0) AS abandoned,
    who,
    broker,
    nullif(clients - 1, 0) AS others,
    longest_closed_ns AS longest_ns,
    CASE WHEN together_ns IS NOT NULL THEN cut_connections END AS cut_connections,
    CASE WHEN together_ns IS NOT NULL THEN cut_brokers END AS cut_brokers,
    together_ns,
    CASE WHEN together_ns IS NOT NULL
        THEN 'What these connections have in common lies between clients and brokers: a firewall, NAT or load balancer that restarted, was replaced, or lost what it knew of them. Unless these brokers were stopped together: see their logs.'
        ELSE 'The broker closed the connection (check its log at that time), or the client gave up (request.timeout.ms).'
    END AS advice,
    cut AS weight,
    first_exchange AS evidence_first,
    example_exchange AS evidence_longest,
    first_time_ns,
    last_time_ns
FROM unanswered_requests
WHERE matters AND api_name IS NOT NULL
