-- severity: medium
-- rank: 6
-- when: logins having count(*) FILTER (WHERE outcome = 'ok') >= 3 AND (SELECT count(*) FROM connections WHERE closed_by = 'broker') >= 3
-- lasts: s(30)
-- says: {broker} closes connections of {who} {lived_ns} after their login[ ({sasl_mechanism})], at the next request, {times|time|times}: the client does not log in again in time
-- do: The broker limits how long a login is valid (connections.max.reauth.ms, a token that expires). Upgrade this client to a library that logs in again on the same connection (KIP-368), or raise the limit.
-- look: kanalyze connections --client {client_address}
-- explains: unanswered, connection_storm, broker_gone, ends_connection
-- costs: unanswered, connections
SELECT * FROM unrenewed_sessions
