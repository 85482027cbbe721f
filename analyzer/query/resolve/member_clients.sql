-- Client ids of the members of groups, as one run saw them on each connection.
SELECT s.part, s.group_id, s.member_id, min(x.client_id) AS client_id
FROM raw_group_steps AS s
JOIN fact_times AS x ON x.exchange = s.exchange AND x.part = s.part
WHERE s.member_id IS NOT NULL
GROUP BY s.part, s.group_id, s.member_id
