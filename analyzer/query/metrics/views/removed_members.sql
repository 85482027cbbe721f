-- Members that others took out of their group (LeaveGroup names members since v3): one row a member, with who did so and when.
WITH joined AS (
    SELECT DISTINCT cluster, group_id, member_id, client_address, client_id
    FROM group_news
    WHERE event = 'join' AND member_id IS NOT NULL
),
removals AS (
    SELECT cluster, group_id, member_id, client_address, client_id, who(l) AS remover, min(time_ns) AS removed_ns
    FROM group_news AS l
    WHERE event = 'leave' AND error_code = error('NONE')
    GROUP BY cluster, group_id, member_id, client_address, client_id, who(l)
)
SELECT DISTINCT l.group_id AS of_group, l.member_id AS removed_id, l.remover, l.removed_ns
FROM removals AS l
JOIN joined AS j ON j.cluster IS NOT DISTINCT FROM l.cluster AND j.group_id = l.group_id AND j.member_id = l.member_id
-- By another name: one member may come from several addresses of a translation.
WHERE l.client_id IS DISTINCT FROM j.client_id
