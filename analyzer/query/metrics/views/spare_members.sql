-- Groups with members that hold no partition while others do: one row a group. What each member was given last counts, in groups of
-- which nothing came in the last 10 s of the capture; a member that left has none to hold.
WITH given AS (
    SELECT
        cluster,
        group_id,
        member_id,
        who() AS who,
        client_address,
        exchange,
        time_ns,
        event,
        assigned_partitions,
        row_number() OVER (PARTITION BY cluster, group_id, member_id ORDER BY time_ns DESC, exchange) AS place
    FROM group_news
    WHERE group_type IN ('classic', 'consumer') AND member_id IS NOT NULL AND error_code = error('NONE')
        AND (assigned_partitions IS NOT NULL OR event = 'leave')
)
SELECT
    group_id,
    count(*) AS members,
    count(*) FILTER (WHERE assigned_partitions = 0) AS spare,
    min(who) FILTER (WHERE assigned_partitions = 0) AS who,
    CASE WHEN count(*) FILTER (WHERE assigned_partitions = 0) = 1
        THEN max(client_address) FILTER (WHERE assigned_partitions = 0) END AS client_address,
    CAST(sum(assigned_partitions) AS BIGINT) AS partitions,
    count(*) FILTER (WHERE assigned_partitions = 0) AS weight,
    min_by(exchange, (time_ns, exchange)) FILTER (WHERE assigned_partitions = 0) AS evidence_first,
    min(time_ns) FILTER (WHERE assigned_partitions = 0) AS first_time_ns,
    (SELECT max(last_time_ns) FROM time_range) AS last_time_ns
FROM given
WHERE place = 1 AND event <> 'leave'
GROUP BY cluster, group_id
HAVING count(*) FILTER (WHERE assigned_partitions = 0) > 0 AND sum(assigned_partitions) > 0
    AND (SELECT max(last_time_ns) FROM time_range) - max(time_ns) >= s(10)
