-- The client of each member of a group.
SELECT
    coalesce(l.cluster, '') AS cluster,
    m.group_id,
    m.member_id,
    min(m.client_id) AS client_id,
    -- Behind a proxy that is the proxy's.
    min_by(l.client_address, concat(CASE WHEN f.part IS NULL THEN 0 ELSE 1 END, l.client_address)) AS client_address
FROM member_clients AS m
JOIN connection_context AS l ON l.part = m.part
LEFT JOIN (SELECT part FROM forwarded GROUP BY part) AS f ON f.part = m.part
WHERE l.is_kafka
GROUP BY coalesce(l.cluster, ''), m.group_id, m.member_id
