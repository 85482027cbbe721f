-- Members of which a reply to their own SyncGroup is there, by generation.
SELECT coalesce(l.cluster, '') AS cluster, s.group_id, s.member_id, s.generation
FROM raw_group_steps AS s
JOIN connection_context AS l ON l.part = s.part
WHERE s.event = 'sync' AND s.assigned_partitions IS NOT NULL AND l.is_kafka
GROUP BY coalesce(l.cluster, ''), s.group_id, s.member_id, s.generation
