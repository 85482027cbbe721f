-- severity: info
-- rank: 27
-- when: group_news having count(DISTINCT connection) FILTER (WHERE (event = 'join' OR event = 'heartbeat' AND group_type <> 'classic' AND sent_generation IS NULL) AND coalesce(error_code, error('NONE')) = error('NONE')) >= 4
-- says: {who} joined group {group_id} again {times|time|times}, {apart_ns} apart, each time after its previous connection had ended: it seems to restart again and again
-- do: Read the log of this client: does it fail and is started again, or does something start and stop it (a job, a health check, an autoscaler)?
-- look: kanalyze groups --group {group_id}
-- explains: connection_storm, stuck_member(JoinGroup)
-- costs: rebalance
SELECT * FROM returning_members
