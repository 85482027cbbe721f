-- The static member behind a member id, where a message has both.
SELECT group_id, member_id, max(instance_id) AS instance_id
FROM raw_group_steps
WHERE member_id IS NOT NULL AND instance_id IS NOT NULL
GROUP BY group_id, member_id
