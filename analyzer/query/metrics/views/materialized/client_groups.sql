-- Which group is a client in? One row per client that spoke for a group: the group when there is only one, else null with
-- `groups` > 1. Share groups name themselves in their fetches and are left out.
SELECT
    coalesce(cluster, '') AS cluster,
    client_address,
    coalesce(client_id, '') AS client_id,
    count(DISTINCT group_id) AS groups,
    CASE WHEN count(DISTINCT group_id) = 1 THEN min(group_id) END AS group_id
FROM all_group_events
WHERE group_type <> 'share' AND group_id IS NOT NULL
GROUP BY coalesce(cluster, ''), client_address, coalesce(client_id, '')
