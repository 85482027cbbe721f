-- severity: medium
-- rank: 14
-- when: group_news having count(*) FILTER (WHERE event = 'leave') >= 4
-- says: {who} joins group {group_id} and leaves it again, {times|time|times}, {apart_ns} apart: each time {others|other member has|other members have} to stop and rebalance
-- do: Look at what starts and ends this consumer: an autoscaler that cannot decide, a job that should have a group of its own, a failing health check.
-- look: kanalyze groups --group {group_id}
-- explains: restarting_member, rebalance_loop, stuck_member, failing(UNKNOWN_MEMBER_ID|ILLEGAL_GENERATION|REBALANCE_IN_PROGRESS|FENCED_MEMBER_EPOCH|STALE_MEMBER_EPOCH|UNRELEASED_INSTANCE_ID), commit_failures
-- costs: rebalance
SELECT * FROM passing_members
