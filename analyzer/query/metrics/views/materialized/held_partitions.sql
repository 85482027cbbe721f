-- Whose partition is it? One row per client and partition that a group assigned to it: the group when there is only one,
-- else null with `groups` > 1. Share groups name themselves in their fetches and are left out. `topic` is the name, else the id.
SELECT
    coalesce(cluster, '') AS cluster,
    client_address,
    coalesce(client_id, '') AS client_id,
    coalesce(topic, topic_id) AS topic,
    partition,
    count(DISTINCT group_id) AS groups,
    CASE WHEN count(DISTINCT group_id) = 1 THEN min(group_id) END AS group_id
FROM all_assignments
WHERE group_type <> 'share'
GROUP BY coalesce(cluster, ''), client_address, coalesce(client_id, ''), coalesce(topic, topic_id), partition
