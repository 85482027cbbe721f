-- severity: high
-- rank: 22
-- when: errors having bool_or(code IN (error('ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'STALE_MEMBER_EPOCH')))
-- says: offset commits of group {group_id} by {who} fail with {name}, {times|time|times}: {effect}
-- do: {advice}
-- look: kanalyze groups[ --group {group_id}]
-- explains: restarting_member, failing(UNKNOWN_MEMBER_ID|ILLEGAL_GENERATION|REBALANCE_IN_PROGRESS|FENCED_MEMBER_EPOCH|STALE_MEMBER_EPOCH|UNRELEASED_INSTANCE_ID)
-- costs: refused(OffsetCommit|TxnOffsetCommit)
SELECT * FROM failed_commits
