-- JoinGroups that were refused as no member of the group goes by what they offer: one row a request, with the assignor that it
-- `offered` first and the one that the members have `taken`, where they have taken one alone. Workers of Connect and MirrorMaker,
-- and schema registries, assign other things than partitions: `of_other_sort`, where one side is of these and the other one is not.
WITH taken AS (
    SELECT cluster, group_id, max(protocol) AS protocol
    FROM group_news
    WHERE event = 'join' AND error_code = error('NONE') AND generation > 0
    GROUP BY cluster, group_id
    HAVING min(protocol) = max(protocol)
)
SELECT DISTINCT
    r.exchange,
    r.protocol AS offered,
    t.protocol AS taken,
    (r.protocol IN ('sessioned', 'compatible', 'default', 'v0')) <> (t.protocol IN ('sessioned', 'compatible', 'default', 'v0'))
        AS of_other_sort
FROM group_news AS r JOIN taken AS t ON t.cluster IS NOT DISTINCT FROM r.cluster AND t.group_id = r.group_id
WHERE r.event = 'join' AND r.error_code = error('INCONSISTENT_GROUP_PROTOCOL') AND r.protocol <> t.protocol
