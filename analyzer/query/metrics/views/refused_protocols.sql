-- JoinGroups that were refused as no member of the group goes by what they offer: one row a request, with the assignor that it
-- `offered` first and the one that the members have `taken`, where they have taken one alone. Workers of Connect and MirrorMaker,
-- and schema registries, assign other things than partitions: `of_other_sort`, where one side is of these and the other one is not.
SELECT
    r.exchange,
    r.protocol AS offered,
    max(g.protocol) AS taken,
    (r.protocol IN ('sessioned', 'compatible', 'default', 'v0')) <> (max(g.protocol) IN ('sessioned', 'compatible', 'default', 'v0'))
        AS of_other_sort
FROM group_news AS r JOIN group_news AS g ON g.cluster = r.cluster AND g.group_id = r.group_id
WHERE r.event = 'join' AND r.error_code = error('INCONSISTENT_GROUP_PROTOCOL') AND r.protocol IS NOT NULL
    AND g.event = 'join' AND g.error_code = error('NONE') AND g.generation > 0
GROUP BY r.exchange, r.protocol
HAVING min(g.protocol) = max(g.protocol) AND max(g.protocol) <> r.protocol
