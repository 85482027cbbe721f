-- Members of classic groups that are asked to join again and do not: one row per member, its longest such time (`lasted_ns`, 30 s at least)
-- and how many of its heartbeats were answered so (`times`, 3 at least), with no join and no leave in between. Heartbeats that it sends while
-- its join waits for the other members do not count.
WITH steps AS (
    SELECT
        *,
        sum(CASE WHEN event = 'heartbeat' AND error_code = error('REBALANCE_IN_PROGRESS') THEN 0 ELSE 1 END) OVER (
            PARTITION BY cluster, group_id, member_id ORDER BY begin_ns, exchange ROWS UNBOUNDED PRECEDING
        ) AS stretch,
        max(CASE WHEN event = 'join' THEN CASE WHEN error_code IS NULL THEN max_bigint() ELSE time_ns END END) OVER (
            PARTITION BY cluster, group_id, member_id ORDER BY begin_ns, exchange ROWS UNBOUNDED PRECEDING
        ) AS joins_to_ns
    FROM group_news
    WHERE group_type = 'classic' AND event IN ('join', 'leave', 'heartbeat') AND group_id IS NOT NULL AND member_id IS NOT NULL
),
asked AS (
    SELECT
        cluster,
        group_id,
        member_id,
        min(who()) AS who,
        min(client_address) AS client_address,
        count(*) AS times,
        max(time_ns) - min(begin_ns) AS lasted_ns,
        max(time_ns) - min(begin_ns) AS weight,
        min_by(connection, (begin_ns, exchange)) AS connection,
        min_by(exchange, (begin_ns, exchange)) AS evidence_first,
        max_by(exchange, (begin_ns, exchange)) AS evidence_last,
        min(begin_ns) AS first_time_ns,
        max(time_ns) AS last_time_ns
    FROM steps
    WHERE event = 'heartbeat' AND error_code = error('REBALANCE_IN_PROGRESS') AND coalesce(begin_ns >= joins_to_ns, true)
    GROUP BY cluster, group_id, member_id, stretch
    HAVING count(*) >= 3 AND max(time_ns) - min(begin_ns) >= s(30)
)
SELECT *
FROM asked
QUALIFY row_number() OVER (PARTITION BY cluster, group_id, member_id ORDER BY lasted_ns DESC, first_time_ns) = 1
