-- Members whose process ended without a word, time and again: one row a client at an address and group.
-- Three members at least of one client at one address, one after the other: the connection by which a member joined ends (the
-- coordinator may answer late on it), it said nothing more before the next joined, and nobody told the coordinator that it left. Members of
-- newer groups say so in a heartbeat, so that all of its connection must have been read. A static member of a classic group
-- leaves without a word by design.
WITH joined AS (
    SELECT cluster, group_id, client_id, client_address, member_id, connection, min(begin_ns) AS begin_ns
    FROM group_news
    WHERE event = 'join' AND group_type IN ('classic', 'consumer') AND (instance_id IS NULL OR group_type = 'consumer')
        AND error_code = error('NONE') AND member_id IS NOT NULL
    GROUP BY cluster, group_id, client_id, client_address, member_id, connection
),
-- Who is named in a leave, or whose client left on the way: its name is not always in the message.
left_at AS (
    SELECT group_id, client_id, client_address, begin_ns FROM group_news WHERE event = 'leave'
),
last_words AS (
    SELECT n.connection, n.exchange, greatest(n.last_ns, coalesce(q.last_ns, n.last_ns)) AS last_ns
    FROM (
        SELECT connection, min(exchange) FILTER (WHERE event = 'join') AS exchange, max(begin_ns) AS last_ns
        FROM group_news
        GROUP BY connection
    ) AS n
    LEFT JOIN (
        SELECT connection, max(last_time_ns) AS last_ns
        FROM group_requests
        WHERE api_key = api('OffsetCommit')
        GROUP BY connection
    ) AS q ON q.connection = n.connection
),
lives AS (
    SELECT
        j.cluster,
        j.group_id,
        j.client_id,
        j.client_address,
        j.begin_ns,
        j.connection,
        c.close <> 'none' AND c.client_gaps = 0 AND c.one_way IS NULL AS has_ended,
        w.last_ns,
        lead(j.begin_ns) OVER (
            PARTITION BY j.cluster, j.group_id, j.client_id, j.client_address ORDER BY j.begin_ns, j.member_id
        ) AS next_ns,
        lead(j.connection) OVER (
            PARTITION BY j.cluster, j.group_id, j.client_id, j.client_address ORDER BY j.begin_ns, j.member_id
        ) AS next_connection
    FROM joined AS j
    JOIN connections AS c ON c.connection = j.connection
    JOIN last_words AS w ON w.connection = j.connection
),
crashed AS (
    SELECT l.*
    FROM lives AS l LEFT JOIN left_at AS e
        ON e.group_id = l.group_id AND e.client_id IS NOT DISTINCT FROM l.client_id AND e.client_address = l.client_address
        AND e.begin_ns BETWEEN l.begin_ns AND l.next_ns
    WHERE l.next_connection <> l.connection AND l.has_ended AND l.last_ns <= l.next_ns AND e.begin_ns IS NULL
        AND NOT EXISTS (
            SELECT 1 FROM exchanges AS x
            WHERE x.connection = l.connection AND x.api_key = api('ConsumerGroupHeartbeat') AND x.request_decoded IS DISTINCT FROM 'full'
        )
)
SELECT
    who(c) AS who,
    c.client_address,
    c.group_id,
    count(*) AS times,
    CAST(min(c.next_ns - c.begin_ns) AS BIGINT) AS apart_ns,
    count(*) AS weight,
    min_by(a.exchange, (c.next_ns, a.exchange)) AS evidence_first,
    max_by(a.exchange, (c.next_ns, a.exchange)) AS evidence_last,
    min(c.begin_ns) AS first_time_ns,
    max(c.next_ns) AS last_time_ns
FROM crashed AS c JOIN last_words AS a ON a.connection = c.next_connection
GROUP BY c.cluster, c.group_id, c.client_id, c.client_address
HAVING count(*) >= 3
