-- Of which application is a group? One row per group (`group_id`) all of whose clients are of one: `of_application` is its software,
-- with its name where that is another one than the group's.
SELECT
    g.group_id,
    min(a.software) || CASE WHEN min(a.application) = g.group_id THEN '' ELSE ' ' || min(a.application) END AS of_application
FROM client_groups AS g LEFT JOIN applications AS a ON a.client_id = g.client_id AND a.client_address = g.client_address
WHERE g.group_id IS NOT NULL
GROUP BY g.group_id
HAVING count(*) = count(a.application) AND min(a.application) = max(a.application) AND min(a.software) = max(a.software)
