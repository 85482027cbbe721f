-- severity: high
-- rank: 6
-- when: exchange_sorts having coalesce(sum(exchanges) FILTER (WHERE api_key = api('Vote')), 0) >= 20
-- lasts: s(15)
-- says: controllers elect no leader: {times} Vote requests in {lasted_ns}, by {candidates|candidate|candidates}, {client_address} among them
-- do: Without a controller no leader moves and no topic is made. See that most of the controllers are up and reach each other on the controller port, and read their logs: votes are refused where a log is behind, where voters differ (controller.quorum.voters), or come too late for the timeouts (controller.quorum.election.timeout.ms).
-- look: kanalyze connections
-- explains: controller_gone, repetition, no_leader*, request_timed_out*
SELECT * FROM votes_in_vain
