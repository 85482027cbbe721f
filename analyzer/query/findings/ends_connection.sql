-- severity: medium
-- rank: 27
-- when: exchange_sorts having sum(exchanges) FILTER (WHERE is_client AND status = 'closed') >= 3
-- and: fatal_requests having bool_or(answers_others)
-- says: {who} fails: the broker closes its connection on each {api_name} ({requests|request|requests}), though it answers other requests
-- do: The broker cannot read these requests, fails at them, or refuses their size: its log has an error at that time. Where `kanalyze show` notes a field that breaks the protocol, upgrade this client.
-- look: kanalyze unanswered --api {api_name} --client {who}
-- explains: unanswered, hung_up_at_once, connection_storm, metadata_storm
-- costs: unanswered, connections
SELECT * FROM fatal_clients
