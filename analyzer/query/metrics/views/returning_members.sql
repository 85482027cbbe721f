-- Members that join a group anew, `times` after they had joined first: one row a client at an address and group.
-- Four lives at least of one client at one address, one after the other, two minutes apart at most: the connection by which one joined ends
-- before the next joins, or within a second (of a killed process the last packets come late). A member that comes back under the name that
-- it had is the same life, and whose connection the broker ended is no other process. Where packets are cut, the first heartbeat of a
-- newer group's member is its join. Medium where a client of a classic group came back four times and never said that it left: a
-- capture that is cut short shows this too, and no more. A static member never says that it leaves: medium where it is back within 45 s
-- each time, which no job is that begins once a minute.
WITH joined AS (
    SELECT
        cluster,
        group_id,
        client_id,
        client_address,
        connection,
        min(begin_ns) AS begin_ns,
        min_by(exchange, (begin_ns, exchange)) AS exchange,
        min_by(member_id, (begin_ns, exchange)) AS member_id,
        min(group_type) AS group_type,
        instance_id
    FROM group_news
    WHERE (event = 'join' OR (event = 'heartbeat' AND group_type <> 'classic' AND sent_generation IS NULL))
        AND coalesce(error_code, error('NONE')) = error('NONE')
    GROUP BY cluster, group_id, client_id, client_address, connection, instance_id
),
lives AS (
    SELECT
        j.*,
        lag(CASE WHEN c.closed_by = 'client' THEN c.close_time_ns ELSE c.last_time_ns END) OVER before AS ended_ns,
        lag(c.closed_by = 'broker') OVER before AS was_sent_away,
        lag(j.begin_ns) OVER before AS before_ns,
        lag(j.member_id) OVER before IS DISTINCT FROM j.member_id OR j.member_id IS NULL AS is_another
    FROM joined AS j JOIN connections AS c ON c.connection = j.connection
    WINDOW before AS (PARTITION BY j.cluster, j.group_id, j.client_id, j.client_address, j.instance_id ORDER BY j.begin_ns, j.connection)
)
SELECT
    who(l) AS who,
    client_address,
    group_id,
    count(*) AS times,
    CAST(round(1.0 * (max(begin_ns) - min(before_ns)) / count(*)) AS BIGINT) AS apart_ns,
    CASE WHEN count(*) >= 4 AND min(group_type) = 'classic' AND (instance_id IS NULL OR max(begin_ns - before_ns) <= s(45)) AND NOT EXISTS (
        SELECT 1 FROM exchanges AS x
        WHERE x.api_key = api('LeaveGroup') AND x.client_address = l.client_address AND x.client_id IS NOT DISTINCT FROM l.client_id
    ) THEN 'medium' ELSE 'info' END AS severity,
    count(*) AS weight,
    min_by(exchange, (begin_ns, exchange)) AS evidence_first,
    max_by(exchange, (begin_ns, exchange)) AS evidence_last,
    min(before_ns) AS first_time_ns,
    max(begin_ns) AS last_time_ns
FROM lives AS l
WHERE ended_ns < begin_ns + s(1) AND NOT coalesce(was_sent_away, false) AND is_another AND begin_ns - before_ns <= s(120)
GROUP BY cluster, group_id, client_id, client_address, instance_id
HAVING count(*) >= 3
