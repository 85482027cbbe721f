-- The client of each member of a group.
SELECT
    coalesce(l.cluster, '') AS cluster,
    m.group_id,
    m.member_id,
    min(m.client_id) AS client_id,
    min(l.client_address) AS client_address
FROM member_clients AS m
JOIN connection_context AS l ON l.part = m.part
WHERE l.is_kafka
GROUP BY coalesce(l.cluster, ''), m.group_id, m.member_id
