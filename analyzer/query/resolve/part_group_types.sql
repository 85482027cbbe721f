-- The type of a group as one connection tells it, where that is one type.
SELECT part, group_id, max(group_type) AS group_type
FROM raw_group_steps
GROUP BY part, group_id
HAVING min(group_type) = max(group_type)
