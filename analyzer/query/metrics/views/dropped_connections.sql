-- Whose idle connections are dropped on the way? One row per client and broker: `times` what was sent after
-- `killed_ns` of silence got no answer, or (`left_ns`) the client opened another connection; connections idle for
-- `survived_ns` went on.
-- Silence of 5 s at least, then a request that nobody acknowledged or that a reset answered, and nothing more of the broker on this
-- connection, though the broker went on to answer others, and no longer silence that a connection survived. Beside the broker the same
-- shows in its reply to a long poll, sent again and again and never acknowledged, while the client begins a new connection.
-- Seen there alone, a client that writes is not heard of again on a connection, which nobody closes, and then begins one new
-- connection, not the two or more of a process that starts (or several, and goes on to number its requests where it was): once may
-- be chance, so that is for information.
-- Of TLS without keys sizes and times tell the same (`unread_silences`); seen beside the broker, a connection is left behind when
-- every connection of its host had been silent for as long, and the host then began one.
-- A broker that refused connections meanwhile was started anew: it had closed the connection, and the client had not noticed.
WITH restarts AS (
    SELECT broker_address, broker_port, first_time_ns AS time_ns
    FROM connections
    WHERE never_answered() AND close = 'rst' AND is_kafka IS NOT TRUE
),
killed AS (
    SELECT *
    FROM dropped_candidates AS k
    WHERE NOT EXISTS (
        SELECT 1 FROM restarts AS b
        WHERE b.broker_address = k.broker_address AND b.broker_port = k.broker_port
            AND b.time_ns BETWEEN k.time_ns - k.silence_ns AND k.time_ns
    )
    -- A line that is dead drops what is idle, too.
    AND NOT EXISTS (
        SELECT 1 FROM dead_lines AS d WHERE d.client_address = k.client_address AND d.until IS NOT NULL AND d.first_time_ns <= k.time_ns + s(1)
    )
    -- Whom the broker itself had told that it closes (`idle_closes`).
    AND NOT EXISTS (
        SELECT 1 FROM connections AS c
        WHERE c.connection = k.connection AND c.closed_by = 'broker' AND c.close_time_ns < k.time_ns
    )
),
left_ones AS (
    SELECT DISTINCT connection FROM dropped_candidates WHERE is_left
),
-- What the connections between the same two survived.
pairs AS (
    SELECT client_address, broker_address, broker_port
    FROM killed
    GROUP BY client_address, broker_address, broker_port
),
beside AS (
    SELECT
        x.client_address,
        x.broker_address,
        x.broker_port,
        x.status,
        x.request_time_ns,
        x.request_time_ns - max(coalesce(x.response_end_ns, x.request_end_ns, x.request_time_ns)) OVER (
            PARTITION BY x.connection ORDER BY x.request_time_ns, x.exchange ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS silence_ns,
        x.response_time_ns - x.request_end_ns AS wait_ns,
        max(x.request_time_ns) OVER (PARTITION BY x.connection) AS last_request_ns
    FROM exchanges AS x JOIN pairs AS p
        ON p.client_address = x.client_address AND p.broker_address = x.broker_address AND p.broker_port = x.broker_port
    WHERE x.request_time_ns IS NOT NULL
),
survived AS (
    SELECT
        client_address,
        broker_address,
        broker_port,
        max(CASE WHEN request_time_ns < last_request_ns AND wait_ns > coalesce(silence_ns, 0) THEN wait_ns ELSE silence_ns END)
            AS survived_ns
    FROM beside
    WHERE status = 'answered'
    GROUP BY client_address, broker_address, broker_port
    UNION ALL
    SELECT client_address, broker_address, broker_port, max(coalesce(asked_time_ns, end_ns) - begin_ns) AS survived_ns
    FROM unread_silences
    WHERE end_ns IS NOT NULL
    GROUP BY client_address, broker_address, broker_port
),
answering AS (
    SELECT k.connection
    FROM killed AS k JOIN exchanges AS x ON x.broker_address = k.broker_address AND x.broker_port = k.broker_port
    WHERE x.response_time_ns > k.time_ns
    GROUP BY k.connection
    UNION
    SELECT k.connection
    FROM killed AS k JOIN unread_silences AS u ON u.broker_address = k.broker_address AND u.broker_port = k.broker_port
    WHERE u.begin_ns > k.time_ns
    GROUP BY k.connection
),
told AS (
    SELECT
        k.who,
        k.client_address,
        k.broker_address || ':' || CAST(k.broker_port AS STRING) AS broker,
        count(*) AS times,
        min(k.silence_ns) AS killed_ns,
        count(*) = count(l.connection) AS only_left,
        max(CASE WHEN v.survived_ns >= s(1) THEN v.survived_ns END) AS survived_ns,
        min_by(k.exchange, (k.time_ns, k.connection)) AS evidence_first,
        max_by(k.exchange, (k.time_ns, k.connection)) AS evidence_last,
        min_by(k.connection, (k.time_ns, k.connection)) AS connection,
        min(k.time_ns) AS first_time_ns,
        max(k.time_ns) AS last_time_ns
    FROM killed AS k
    JOIN answering AS a ON a.connection = k.connection
    LEFT JOIN left_ones AS l ON l.connection = k.connection
    LEFT JOIN (
        SELECT client_address, broker_address, broker_port, max(survived_ns) AS survived_ns
        FROM survived
        GROUP BY client_address, broker_address, broker_port
    ) AS v
        ON v.client_address = k.client_address AND v.broker_address = k.broker_address AND v.broker_port = k.broker_port
    GROUP BY k.who, k.client_address, k.broker_address, k.broker_port
),
-- Times of well-known balancers that lie between the silences, and not long before the one that killed.
fitting AS (
    SELECT
        *,
        s(240) BETWEEN coalesce(survived_ns, 0) AND killed_ns AND killed_ns <= s(420) AS azure,
        s(350) BETWEEN coalesce(survived_ns, 0) AND killed_ns AND killed_ns <= s(530) AS aws
    FROM told
    WHERE survived_ns IS NULL OR survived_ns < killed_ns
)
SELECT
    who,
    client_address,
    broker,
    times,
    CASE WHEN NOT only_left THEN killed_ns END AS killed_ns,
    CASE WHEN only_left THEN killed_ns END AS left_ns,
    CASE WHEN only_left AND times = 1 THEN 'info' ELSE 'medium' END AS severity,
    survived_ns,
    evidence_first,
    evidence_last,
    connection,
    first_time_ns,
    last_time_ns,
    CASE
        WHEN azure AND aws THEN 'Azure Load Balancer (240 s) or AWS Network Load Balancer (350 s)'
        WHEN azure THEN 'Azure Load Balancer (240 s)'
        WHEN aws THEN 'AWS Network Load Balancer (350 s)'
    END AS balancer,
    times AS weight
FROM fitting
