-- severity: medium
-- rank: 16
-- when: group_news having min(CAST(rebalance_timeout_ms AS BIGINT)) FILTER (WHERE rebalance_timeout_ms > 0) * ms(1) <= (SELECT max(last_time_ns - first_time_ns) FROM time_range) OR bool_or(reason LIKE '%poll timeout has expired%')
-- says: {who} (group {group_id}) exceeded its max.poll.interval.ms[ ({interval_ms})] between two polls, {times|time|times}[, {gap_ns} at worst]: {effect}
-- do: Processing takes longer than max.poll.interval.ms: lower max.poll.records, or process the records outside the poll loop.
-- look: kanalyze groups[ --group {group_id}]
-- explains: not_asking, rebalance_loop, commit_failures, failing(UNKNOWN_MEMBER_ID|ILLEGAL_GENERATION|REBALANCE_IN_PROGRESS|FENCED_MEMBER_EPOCH|STALE_MEMBER_EPOCH|UNRELEASED_INSTANCE_ID), session_expired, stuck_member, assigned_not_fetched, lag_growing
-- costs: rebalance
SELECT * FROM late_polls
