-- The type of a group as all connections tell it, where that is one type.
SELECT group_id, max(group_type) AS group_type
FROM raw_group_steps
GROUP BY group_id
HAVING min(group_type) = max(group_type)
