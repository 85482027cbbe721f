-- severity: high
-- rank: 21
-- when: errors having bool_or(code = error('FENCED_INSTANCE_ID'))
-- says: [{who} was thrown out][{one} and {another} throw each other out] of group {group_id}, {times|time|times}: [{taken_by} joined with its][{somebody} joined with its][{processes|process has|processes have} one] group.instance.id[ ({instance_id})]
-- do: Give each process a group.instance.id of its own, or stop the one that is left over. Once is what the end of an old process is like when a new one takes its place: records that it had not committed are consumed again.
-- look: kanalyze groups --group {group_id}
-- explains: restarting_member, unsteady_member, commit_failures, failing(FENCED_INSTANCE_ID|UNRELEASED_INSTANCE_ID)
-- costs: refused(FENCED_INSTANCE_ID)
-- High from three times on: fewer are one process that takes another one's place.
SELECT * FROM fenced_instances
