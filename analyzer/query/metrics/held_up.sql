-- Which groups waited long for a member to join? One row per group: the longest wait, and the member that the others waited for. The
-- longest first.
SELECT * FROM stuck_joins ORDER BY weight DESC, first_time_ns, group_id
