-- severity: high
-- rank: 38
-- when: totals having sum(throttled) > 0
-- and: group_news having bool_or(session_timeout_ms > 0) AND (SELECT count(*) FROM mutes WHERE applies) > 0
-- says: the broker muted the connection of {who} to its group coordinator (group {group_id}) for {muted_ns}: more than half of the session timeout ({session_timeout_ms})
-- do: Heartbeats wait until the mute ends and the member may be removed from the group: raise the quota of this client (request_percentage, controller_mutation_rate), or commit less often.
-- look: kanalyze throttle[ --client {who}]
-- explains: slow_requests
-- costs: time
SELECT * FROM muted_coordinators
