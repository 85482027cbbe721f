-- Members that join and leave in order, time and again: one row a client at an address and group.
-- Four members at least of one client at one address that left in order, one after the other, a minute apart at most, while others
-- joined on their old connections each time: a client that is alone in its group disturbs nobody.
WITH stays AS (
    SELECT
        cluster,
        group_id,
        client_id,
        client_address,
        member_id,
        min(begin_ns) FILTER (WHERE event = 'join') AS joined_ns,
        max(begin_ns) FILTER (WHERE event = 'leave') AS left_ns,
        max(exchange) FILTER (WHERE event = 'leave') AS exchange
    FROM group_news
    WHERE group_type = 'classic' AND event IN ('join', 'leave')
        AND coalesce(error_code, error('NONE')) IN (error('NONE', 'MEMBER_ID_REQUIRED'))
        AND instance_id IS NULL AND member_id IS NOT NULL
    GROUP BY cluster, group_id, client_id, client_address, member_id
),
unsteady AS (
    SELECT
        cluster,
        group_id,
        client_id,
        client_address,
        count(*) AS times,
        min(joined_ns) AS first_time_ns,
        max(joined_ns) AS last_joined_ns,
        max(left_ns) AS last_time_ns,
        min_by(exchange, (left_ns, exchange)) AS evidence_first,
        max_by(exchange, (left_ns, exchange)) AS evidence_last
    FROM stays
    WHERE joined_ns < left_ns
    GROUP BY cluster, group_id, client_id, client_address
    HAVING count(*) >= 4 AND max(left_ns) - min(joined_ns) <= count(*) * s(60)
),
joins AS (
    SELECT cluster, group_id, client_id, client_address, connection, generation, min(begin_ns) AS begin_ns
    FROM group_news
    WHERE event = 'join' AND group_type = 'classic' AND error_code = error('NONE') AND generation > 0
    GROUP BY cluster, group_id, client_id, client_address, connection, generation
),
disturbed AS (
    SELECT u.cluster, u.group_id, u.client_id, u.client_address, j.connection
    FROM unsteady AS u JOIN joins AS j
        ON j.cluster IS NOT DISTINCT FROM u.cluster AND j.group_id = u.group_id
        -- Clients may have one name, as their library gives it, and one host; who stays does not leave.
        AND (j.client_id IS DISTINCT FROM u.client_id OR j.client_address <> u.client_address
            OR j.connection NOT IN (SELECT connection FROM group_news WHERE event = 'leave' AND connection IS NOT NULL))
        AND j.begin_ns BETWEEN u.first_time_ns - s(5) AND u.last_time_ns + s(5)
    GROUP BY u.cluster, u.group_id, u.client_id, u.client_address, u.times, j.connection
    HAVING count(*) >= u.times
)
SELECT
    who(u) AS who,
    u.client_address,
    u.group_id,
    u.times,
    CAST(round((u.last_joined_ns - u.first_time_ns) / nullif(u.times - 1, 0)) AS BIGINT) AS apart_ns,
    count(*) AS others,
    u.times AS weight,
    u.evidence_first,
    u.evidence_last,
    u.first_time_ns,
    u.last_time_ns
FROM unsteady AS u JOIN disturbed AS d
    ON d.cluster IS NOT DISTINCT FROM u.cluster AND d.group_id = u.group_id AND d.client_id IS NOT DISTINCT FROM u.client_id
    AND d.client_address = u.client_address
GROUP BY
    u.client_id, u.client_address, u.group_id, u.times, u.evidence_first, u.evidence_last, u.first_time_ns, u.last_joined_ns,
    u.last_time_ns
