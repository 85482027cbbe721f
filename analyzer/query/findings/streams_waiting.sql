-- severity: medium
-- rank: 18
-- when: group_news having bool_or(group_status IS NOT NULL)
-- says: streams group {group_id} {trouble}: its coordinator says {status}
-- do: {advice}
-- look: kanalyze groups --group {group_id}
SELECT * FROM streams_kept_waiting
