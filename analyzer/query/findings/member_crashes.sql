-- severity: medium
-- rank: 13
-- when: group_news having count(*) FILTER (WHERE event = 'join' AND group_type IN ('classic', 'consumer') AND error_code = error('NONE') AND (instance_id IS NULL OR group_type = 'consumer') AND member_id IS NOT NULL) >= 4
-- says: {who} joined group {group_id} again {times|time|times} without leaving it first, {apart_ns} apart: each time its process had ended before
-- do: The process dies and is started again (a crash loop, a killed container), or it ends without closing its consumer: read its own log. Until its session expires, nobody reads its partitions, or the group waits for it to rebalance.
-- look: kanalyze groups --group {group_id}
-- explains: restarting_member, session_expired, rebalance_loop, stuck_member, failing(UNKNOWN_MEMBER_ID|ILLEGAL_GENERATION|REBALANCE_IN_PROGRESS|FENCED_MEMBER_EPOCH|STALE_MEMBER_EPOCH|UNRELEASED_INSTANCE_ID), commit_failures
-- costs: rebalance
SELECT * FROM crashed_members
