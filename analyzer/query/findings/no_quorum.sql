-- severity: high
-- rank: 6
-- when: exchange_sorts having coalesce(sum(exchanges) FILTER (WHERE api_key = api('Vote')), 0) >= 10
-- lasts: s(15)
-- says: controllers {fate}: [{elections} elections, ]{times} Vote requests in {lasted_ns}, by {candidates|candidate|candidates}, {client_address} among them
-- do: Without a controller no leader moves and no topic is made. {advice}
-- look: kanalyze connections
-- explains: controller_gone, repetition, no_leader*, request_timed_out*
-- Medium where each election ends: what waits goes on a moment later.
SELECT
    *,
    CASE WHEN elections IS NULL THEN 'elect no leader' ELSE 'elect a leader again and again' END AS fate,
    CASE WHEN elections IS NULL
        THEN 'See that most of the controllers are up and reach each other on the controller port, and read their logs: votes are refused where a log is behind, where voters differ (controller.quorum.voters), or come too late for the timeouts (controller.quorum.election.timeout.ms).'
        ELSE 'Read the controllers'' logs: the leader stands still or loses its links for longer than controller.quorum.fetch.timeout.ms (2 s) each time (disk, garbage collection, network), or one controller that others do not hear stands for election.' END AS advice,
    CASE WHEN elections IS NULL THEN 'high' ELSE 'medium' END AS severity
FROM votes_in_vain
