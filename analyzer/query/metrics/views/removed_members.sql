-- Members that others took out of their group (LeaveGroup names members since v3): one row a member, with who did so and when.
SELECT DISTINCT l.group_id AS of_group, l.member_id AS removed_id, who(l) AS remover, l.time_ns AS removed_ns
FROM group_news AS l JOIN group_news AS j ON j.cluster = l.cluster AND j.group_id = l.group_id AND j.member_id = l.member_id
WHERE l.event = 'leave' AND l.error_code = error('NONE') AND j.event = 'join'
    AND (l.client_address <> j.client_address OR l.client_id <> j.client_id)
