-- In which groups do members wait for an assignment that their leader sends late, or never? One row per group, the longest wait first.
SELECT * FROM silent_leaders ORDER BY weight DESC, group_id
