-- severity: high
-- rank: 22
-- when: errors having bool_or(code IN (error('ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'STALE_MEMBER_EPOCH')))
-- says: offset commits of group {group_id} by {who} fail with {name}, {times|time|times}: records will be consumed again
-- do: The member was removed from the group before it committed: check how long it processes between two polls (max.poll.interval.ms), and the rebalances of the group.
-- look: kanalyze groups[ --group {group_id}]
-- explains: restarting_member, failing(UNKNOWN_MEMBER_ID|ILLEGAL_GENERATION|REBALANCE_IN_PROGRESS|FENCED_MEMBER_EPOCH|STALE_MEMBER_EPOCH|UNRELEASED_INSTANCE_ID)
-- costs: refused(OffsetCommit|TxnOffsetCommit)
SELECT * FROM failed_commits
