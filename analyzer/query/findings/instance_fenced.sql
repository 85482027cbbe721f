-- severity: high
-- rank: 21
-- when: errors having bool_or(code = error('FENCED_INSTANCE_ID'))
-- says: {named}[ and {others|other|others}][ and {another}] {fate} of group {group_id}, {times|time|times}: [{taken_by} joined with its][{they}] group.instance.id[ ({instance_id})]
-- do: Give each process a group.instance.id of its own, or stop the one that is left over. Where a new process takes the place of an old one, it happens once: records that the old one had not committed are consumed again.
-- look: kanalyze groups --group {group_id}
-- explains: restarting_member, member_crashes, unsteady_member, commit_failures, failing(FENCED_INSTANCE_ID|UNRELEASED_INSTANCE_ID)
-- costs: refused(FENCED_INSTANCE_ID)
-- High where two throw each other out: neither gets through its records. One that takes another one's place, as in a roll-out, does it once.
SELECT * FROM fenced_instances
