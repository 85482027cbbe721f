-- Which group is a client in? One row per client that spoke for a group: the group when there is only one, else null with
-- `groups` > 1. Share groups name themselves in their fetches and are left out.
WITH spoken AS (
    SELECT coalesce(cluster, '') AS cluster, client_address, client_id, group_id
    FROM all_group_news
    WHERE group_type <> 'share' AND group_id IS NOT NULL
    GROUP BY coalesce(cluster, ''), client_address, client_id, group_id
    UNION ALL
    SELECT coalesce(c.cluster, ''), q.client_address, q.client_id, q.group_id
    FROM all_group_requests AS q
    JOIN all_connections AS c ON c.connection = q.connection
    WHERE q.api_key = api('OffsetCommit')
        -- A share group has no commits.
        AND q.group_id NOT IN (SELECT group_id FROM all_group_news WHERE group_type = 'share' AND group_id IS NOT NULL)
    GROUP BY coalesce(c.cluster, ''), q.client_address, q.client_id, q.group_id
)
SELECT
    cluster,
    client_address,
    coalesce(client_id, '') AS client_id,
    count(DISTINCT group_id) AS groups,
    CASE WHEN count(DISTINCT group_id) = 1 THEN min(group_id) END AS group_id
FROM spoken
GROUP BY cluster, client_address, coalesce(client_id, '')
