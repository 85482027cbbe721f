-- severity: medium
-- rank: 15
-- when: exchange_sorts having max(latency_ns) FILTER (WHERE api_key = api('SyncGroup')) >= s(5)
-- says: {members|member|members} of group {group_id} waited for an assignment (SyncGroup) {times|time|times}, for up to {longest_ns}: the leader of the group sent it late or never[ (member {leader})]
-- do: The leader is the member that computes who reads what. Look at its log: it died or hung between joining and sending, is cut off from the coordinator, or takes long over many topics. The group waits for its session timeout.
-- look: kanalyze groups --group {group_id}
-- explains: slow_requests, gives_up, lag_growing
-- costs: rebalance, time
SELECT * FROM silent_leaders
