-- Which members are asked to join again and do not? One row per member: see the finding `rejoins_late`.
SELECT * FROM late_rejoins ORDER BY weight DESC, first_time_ns, group_id, member_id
