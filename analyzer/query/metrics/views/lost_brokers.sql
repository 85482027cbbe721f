-- Which brokers became unavailable? One row per broker and time: `attempts` of `clients` addresses failed after its
-- last reply, or `never` succeeded, or the `ended` connections to others ended; `back` says what came of it,
-- `refused_writes` were refused meanwhile.
-- It answered clients before, and then all its connections ended and it refused or ignored the next attempt, or it did so with
-- three attempts. A proxy before it accepts, and hangs up without a byte: three such connections, once all others ended. Of TLS
-- without keys its bytes count as answers. One that went before the capture began is told where three attempts fail up to the end
-- of clients that hear that partitions have no leader. Back is who answered again: a restart, for information unless it took a minute,
-- or three requests of clients more than before had to wait for another broker, or a client asked for metadata again and again all
-- the while, or clients were told three times meanwhile that a partition has no leader (medium; one reply may name all that lost
-- theirs, of topics that its client never uses), or that a write was refused for want of replicas (high). After one or two attempts, and none in the last five
-- seconds, it may be back: for information, unless clients were told so. So it may after
-- more of them, where hardly a request had to wait for another broker. A broker that nobody asks is missed by other brokers: all its
-- connections to them ended, 10 s or more before the end (3 s where three writes wait for replicas to the end, for 2 s and more), and it
-- tried no other. Followers leave a broker that leads no more, so these connections were to two brokers, or one to a controller was among
-- them, which nobody leaves. It may have been taken away in order, its partitions moved before: for information, unless clients were
-- refused or waited for replicas from then on.
WITH attempts AS (
    SELECT
        connection,
        client_address,
        broker_address,
        broker_port,
        first_time_ns,
        never_answered() AS is_refused
    FROM connections
    WHERE seen_from = 'syn' AND broker_stream_bytes = 0 AND one_way IS NULL
        AND (
            (is_kafka IS NOT TRUE AND never_answered())
            OR (syn_ack_ns IS NOT NULL AND client_stream_bytes > coalesce(client_opening_bytes, 0) AND close <> 'none'
                AND last_time_ns - first_time_ns < s(2))
        )
),
-- Who accepts and hangs up while TLS connections go on is no broker that went, nor is who so ends only what it never answers.
failed AS (
    SELECT *
    FROM attempts AS a
    WHERE a.is_refused OR a.connection NOT IN (
        SELECT x.connection
        FROM all_exchanges AS x JOIN fatal_requests AS f
            ON f.client_address = x.client_address AND f.broker_address = x.broker_address AND f.broker_port = x.broker_port
            AND f.api_key = x.api_key AND (f.answers_others OR f.api_key = api('Produce'))
    ) AND NOT EXISTS (
        SELECT 1 FROM tls_unread AS t
        WHERE t.broker_address = a.broker_address AND t.broker_port = a.broker_port AND t.first_time_ns < a.first_time_ns
            AND t.last_time_ns > a.first_time_ns
    )
),
missed_attempts AS (
    SELECT broker_address, broker_port FROM failed GROUP BY broker_address, broker_port
),
-- Whoever is asked for, an answer to anybody else tells that the broker was there.
answers AS (
    SELECT x.broker_address, x.broker_port, x.response_time_ns AS time_ns, x.exchange
    FROM all_exchanges AS x
    JOIN missed_attempts AS m ON m.broker_address = x.broker_address AND m.broker_port = x.broker_port
    WHERE x.response_time_ns IS NOT NULL AND is_client(x.role)
    UNION ALL
    -- Behind a proxy, which accepts what it cannot carry on.
    SELECT f.broker_address, f.broker_port, f.response_time_ns AS time_ns, f.forwarded_from AS exchange
    FROM forwards AS f
    JOIN missed_attempts AS m ON m.broker_address = f.broker_address AND m.broker_port = f.broker_port
    WHERE f.response_time_ns IS NOT NULL
    UNION ALL
    SELECT broker_address, broker_port, first_time_ns AS time_ns, CAST(NULL AS BIGINT) AS exchange
    FROM tls_unread WHERE broker_stream_bytes > 0 AND broker_port <> 443
    UNION ALL
    SELECT broker_address, broker_port, last_time_ns AS time_ns, CAST(NULL AS BIGINT) AS exchange
    FROM tls_unread WHERE broker_stream_bytes > 0 AND broker_port <> 443
),
alive AS (
    SELECT
        broker_address,
        broker_port,
        time_ns AS gone_ns,
        exchange,
        lead(time_ns) OVER (PARTITION BY broker_address, broker_port ORDER BY time_ns, exchange) AS back_ns
    FROM answers
),
away AS (
    SELECT
        a.broker_address,
        a.broker_port,
        a.gone_ns,
        a.back_ns,
        a.exchange,
        count(*) AS attempts,
        count(*) FILTER (WHERE c.is_refused) AS refused,
        count(DISTINCT c.client_address) AS clients,
        min_by(c.connection, (c.first_time_ns, c.connection)) AS connection,
        min(c.first_time_ns) AS first_attempt_ns,
        max(c.first_time_ns) AS last_attempt_ns
    FROM alive AS a JOIN failed AS c
        ON c.broker_address = a.broker_address AND c.broker_port = a.broker_port AND c.first_time_ns > a.gone_ns
        AND (a.back_ns IS NULL OR c.first_time_ns < a.back_ns)
    GROUP BY a.broker_address, a.broker_port, a.gone_ns, a.back_ns, a.exchange
),
-- The cluster of each broker, where its id is known: what clients of another cluster suffered is not for want of this broker.
homes AS (
    SELECT broker_address, broker_port, min(cluster) AS cluster
    FROM clustered_connections
    GROUP BY broker_address, broker_port
),
-- Anybody may see that it is back: other brokers, to which it connects (from a host of its own) or which connect to it.
revived AS (
    SELECT w.broker_address, w.broker_port, w.gone_ns, min(c.first_time_ns) AS back_ns
    FROM away AS w JOIN all_connections AS c
        ON (c.broker_address = w.broker_address AND c.broker_port = w.broker_port)
        OR (c.client_address = w.broker_address AND c.role IN ('follower', 'controller', 'raft')
            AND w.broker_address NOT IN (SELECT host FROM shared_broker_hosts))
    WHERE (c.is_kafka AND c.replies > 0 OR c.tls AND c.broker_stream_bytes > 0) AND c.first_time_ns > w.first_attempt_ns
    GROUP BY w.broker_address, w.broker_port, w.gone_ns
),
-- Connections that lived when it answered last: all of them end soon when a broker goes.
lived AS (
    SELECT
        w.broker_address,
        w.broker_port,
        w.gone_ns,
        count(*) FILTER (WHERE c.close = 'none' OR c.last_time_ns > w.gone_ns + s(5)) AS lasting
    FROM away AS w JOIN all_connections AS c ON c.broker_address = w.broker_address AND c.broker_port = w.broker_port
    WHERE (c.is_kafka OR c.tls) AND c.first_time_ns <= w.gone_ns AND c.last_time_ns >= w.gone_ns
    GROUP BY w.broker_address, w.broker_port, w.gone_ns
),
-- What clients were told meanwhile of partitions without a leader, and of writes for which too few replicas were in sync.
refused AS (
    SELECT
        w.broker_address,
        w.broker_port,
        w.gone_ns,
        count(DISTINCT x.exchange) AS told,
        count(*) FILTER (WHERE e.code IN (error('NOT_ENOUGH_REPLICAS', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND'))) AS writes
    FROM away AS w
    JOIN all_errors AS e ON e.code IN (error('LEADER_NOT_AVAILABLE', 'NOT_ENOUGH_REPLICAS', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND'))
    JOIN all_exchanges AS x ON x.exchange = e.exchange
    LEFT JOIN homes AS h ON h.broker_address = w.broker_address AND h.broker_port = w.broker_port
    LEFT JOIN homes AS o ON o.broker_address = x.broker_address AND o.broker_port = x.broker_port
    WHERE x.response_time_ns BETWEEN w.gone_ns AND w.last_attempt_ns + s(1) AND is_client(x.role)
        AND coalesce(o.cluster = h.cluster, true)
    GROUP BY w.broker_address, w.broker_port, w.gone_ns
),
-- Requests that waited for 2 s or more, or in vain, while clients looked for another broker, and were sent before it was back; and how many
-- did so as long before, as they do where writes are always slow.
delayed AS (
    SELECT
        w.broker_address,
        w.broker_port,
        w.gone_ns,
        count(*) FILTER (WHERE x.request_time_ns BETWEEN w.gone_ns - s(2) AND coalesce(v.back_ns, w.gone_ns + s(10)) AND x.response_time_ns > w.gone_ns)
            AS requests,
        count(*) FILTER (WHERE x.response_time_ns <= w.gone_ns) AS before
    FROM away AS w
    JOIN exchanges AS x ON x.request_time_ns BETWEEN w.gone_ns - s(14) AND w.gone_ns + s(10)
    LEFT JOIN revived AS v ON v.broker_address = w.broker_address AND v.broker_port = w.broker_port AND v.gone_ns = w.gone_ns
    LEFT JOIN homes AS h ON h.broker_address = w.broker_address AND h.broker_port = w.broker_port
    LEFT JOIN homes AS o ON o.broker_address = x.broker_address AND o.broker_port = x.broker_port
    WHERE (x.latency_ns >= s(2) OR x.error_code = error('REQUEST_TIMED_OUT')) AND is_client(x.role)
        AND coalesce(o.cluster = h.cluster, true)
        AND (x.kind IS NULL OR x.kind IN ('produce_acks_1', 'produce_acks_all') OR x.error_code = error('REQUEST_TIMED_OUT'))
    GROUP BY w.broker_address, w.broker_port, w.gone_ns
),
-- Clients that asked for metadata again and again while it was away, and neither before nor after.
searching AS (
    SELECT w.broker_address, w.broker_port, w.gone_ns
    FROM away AS w
    JOIN revived AS v ON v.broker_address = w.broker_address AND v.broker_port = w.broker_port AND v.gone_ns = w.gone_ns
    JOIN metadata_storms AS m ON m.first_time_ns >= w.gone_ns - s(5) AND m.last_time_ns <= v.back_ns + s(5)
    GROUP BY w.broker_address, w.broker_port, w.gone_ns
),
-- How many brokers clients are told of where this one is the cluster.
only_ones AS (
    SELECT c.broker_address, c.broker_port, max(b.nodes) AS nodes
    FROM (
        SELECT broker_address, broker_port, cluster
        FROM all_connections
        WHERE cluster IS NOT NULL AND is_kafka
        GROUP BY broker_address, broker_port, cluster
    ) AS c
    JOIN (SELECT cluster, count(DISTINCT broker_id) AS nodes FROM brokers GROUP BY cluster) AS b ON b.cluster = c.cluster
    GROUP BY c.broker_address, c.broker_port
),
asked AS (
    SELECT
        w.broker_address || ':' || CAST(w.broker_port AS STRING) AS broker,
        w.broker_address AS host,
        w.attempts,
        w.clients,
        CAST(NULL AS BIGINT) AS never,
        CAST(NULL AS BIGINT) AS ended,
        w.connection,
        CASE
            WHEN v.back_ns IS NOT NULL THEN 'and it came back'
            WHEN r.last_time_ns - w.last_attempt_ns > s(5) THEN 'and nobody asked for it again'
            ELSE 'and it was not back at the end of the capture'
        END AS back,
        v.back_ns - w.gone_ns AS away_ns,
        CASE WHEN o.nodes = 1 THEN 'the only one of its cluster' END AS alone,
        v.back_ns IS NOT NULL AS is_over,
        nullif(n.writes, 0) AS refused_writes,
        CASE
            WHEN o.nodes = 1 AND v.back_ns - w.gone_ns >= s(5) THEN 'high'
            WHEN v.back_ns IS NULL AND r.last_time_ns - w.last_attempt_ns > s(5) AND coalesce(n.told, 0) < 3
                AND (w.attempts < 3 OR coalesce(d.requests, 0) < 3)
                THEN CASE WHEN w.last_attempt_ns - w.gone_ns >= s(10) THEN 'medium' ELSE 'info' END
            WHEN v.back_ns IS NULL OR n.writes >= 3 THEN 'high'
            WHEN v.back_ns - w.gone_ns >= s(60) OR n.told >= 3 OR d.requests >= d.before + 3 OR k.gone_ns IS NOT NULL
                THEN 'medium'
            ELSE 'info'
        END AS severity,
        w.attempts AS weight,
        w.exchange AS evidence_last_reply,
        w.gone_ns AS first_time_ns,
        -- Who is not back is away until the end.
        coalesce(v.back_ns, r.last_time_ns) AS last_time_ns
    FROM away AS w
    CROSS JOIN time_range AS r
    LEFT JOIN revived AS v ON v.broker_address = w.broker_address AND v.broker_port = w.broker_port AND v.gone_ns = w.gone_ns
    LEFT JOIN refused AS n
        ON n.broker_address = w.broker_address AND n.broker_port = w.broker_port AND n.gone_ns = w.gone_ns
    LEFT JOIN delayed AS d
        ON d.broker_address = w.broker_address AND d.broker_port = w.broker_port AND d.gone_ns = w.gone_ns
    LEFT JOIN searching AS k
        ON k.broker_address = w.broker_address AND k.broker_port = w.broker_port AND k.gone_ns = w.gone_ns
    LEFT JOIN lived AS l ON l.broker_address = w.broker_address AND l.broker_port = w.broker_port AND l.gone_ns = w.gone_ns
    LEFT JOIN only_ones AS o ON o.broker_address = w.broker_address AND o.broker_port = w.broker_port
    WHERE (w.refused >= 3 OR (coalesce(l.lasting, 1) = 0 AND (w.refused > 0 OR w.attempts >= 3)))
        -- One or two attempts in the last second are the end of an application together with its brokers, or nothing yet.
        AND NOT (v.back_ns IS NULL AND r.last_time_ns - w.first_attempt_ns < s(1) AND w.attempts < 3 AND coalesce(n.told, 0) < 3)
),
-- Gone before the capture began: nobody answered there in all of it.
never AS (
    SELECT
        f.broker_address || ':' || CAST(f.broker_port AS STRING) AS broker,
        f.broker_address AS host,
        CAST(NULL AS BIGINT) AS attempts,
        CAST(NULL AS BIGINT) AS clients,
        count(*) AS never,
        CAST(NULL AS BIGINT) AS ended,
        min_by(f.connection, (f.first_time_ns, f.connection)) AS connection,
        'and it was not back at the end of the capture' AS back,
        CAST(NULL AS BIGINT) AS away_ns,
        CAST(NULL AS STRING) AS alone,
        false AS is_over,
        CAST(NULL AS BIGINT) AS refused_writes,
        'high' AS severity,
        count(*) AS weight,
        CAST(NULL AS BIGINT) AS evidence_last_reply,
        min(f.first_time_ns) AS first_time_ns,
        max(r.last_time_ns) AS last_time_ns
    FROM failed AS f
    CROSS JOIN time_range AS r
    JOIN (
        SELECT x.client_address, count(DISTINCT x.exchange) AS told
        FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
        WHERE e.code = error('LEADER_NOT_AVAILABLE') AND is_client(x.role) AND x.api_name = 'Metadata'
        GROUP BY x.client_address
    ) AS h ON h.client_address = f.client_address
    LEFT JOIN all_connections AS c
        ON c.broker_address = f.broker_address AND c.broker_port = f.broker_port AND c.broker_stream_bytes > 0
    LEFT JOIN (SELECT broker_port FROM all_connections WHERE is_kafka GROUP BY broker_port) AS k ON k.broker_port = f.broker_port
    WHERE f.is_refused AND c.connection IS NULL AND k.broker_port IS NOT NULL
    GROUP BY f.broker_address, f.broker_port
    HAVING count(*) >= 3 AND max(h.told) >= 3
),
-- Brokers by the connections that they open to others, from hosts of their own, and what clients call them.
following AS (
    SELECT
        client_address,
        count(*) FILTER (WHERE role IN ('follower', 'controller', 'raft')) AS ended,
        max(last_time_ns) AS gone_ns,
        min(cluster_id()) AS cluster,
        max_by(connection, (last_time_ns, connection)) FILTER (WHERE role IN ('follower', 'controller', 'raft')) AS connection
    FROM all_connections
    WHERE client_address NOT IN (SELECT host FROM shared_broker_hosts)
    GROUP BY client_address
    HAVING bool_or(role = 'follower')
        AND max(CASE WHEN close = 'none' AND role IN ('follower', 'controller', 'raft') THEN 1 ELSE 0 END) = 0
        AND (
            bool_or(role IN ('controller', 'raft'))
            OR count(DISTINCT CASE WHEN role = 'follower' THEN broker_address END) >= 2
        )
),
called AS (
    SELECT broker_address, min(broker_port) AS broker_port
    FROM all_connections
    WHERE is_kafka AND role IN ('client', 'follower')
    GROUP BY broker_address
),
harmed AS (
    SELECT f.client_address, count(*) AS harm, count(*) FILTER (WHERE h.is_waiting) AS waiting
    FROM following AS f
    JOIN (
        SELECT x.broker_address, x.broker_port, x.response_time_ns AS time_ns, false AS is_waiting
        FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
        WHERE e.code IN (error('LEADER_NOT_AVAILABLE', 'NOT_ENOUGH_REPLICAS', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND'))
            AND is_client(x.role)
        GROUP BY x.exchange, x.broker_address, x.broker_port, x.response_time_ns
        UNION ALL
        SELECT broker_address, broker_port, response_time_ns AS time_ns, false AS is_waiting
        FROM exchanges
        WHERE kind = 'produce_acks_all' AND latency_ns >= s(1)
        UNION ALL
        SELECT x.broker_address, x.broker_port, x.request_end_ns AS time_ns, true AS is_waiting
        FROM pending_requests AS p JOIN exchanges AS x ON x.exchange = p.exchange
        WHERE x.kind = 'produce_acks_all' AND is_client(x.role) AND p.until_ns - x.request_end_ns >= s(2)
    ) AS h ON h.time_ns >= f.gone_ns
    LEFT JOIN homes AS o ON o.broker_address = h.broker_address AND o.broker_port = h.broker_port
    WHERE coalesce(o.cluster = f.cluster, true)
    GROUP BY f.client_address
),
missed AS (
    SELECT
        f.client_address || coalesce(':' || CAST(c.broker_port AS STRING), '') AS broker,
        f.client_address AS host,
        CAST(NULL AS BIGINT) AS attempts,
        CAST(NULL AS BIGINT) AS clients,
        CAST(NULL AS BIGINT) AS never,
        f.ended,
        f.connection,
        'and it was not back at the end of the capture' AS back,
        CAST(NULL AS BIGINT) AS away_ns,
        CAST(NULL AS STRING) AS alone,
        false AS is_over,
        CAST(NULL AS BIGINT) AS refused_writes,
        CASE WHEN h.harm >= 3 THEN 'high' ELSE 'info' END AS severity,
        f.ended AS weight,
        CAST(NULL AS BIGINT) AS evidence_last_reply,
        f.gone_ns AS first_time_ns,
        r.last_time_ns AS last_time_ns
    FROM following AS f
    LEFT JOIN called AS c ON c.broker_address = f.client_address
    LEFT JOIN harmed AS h ON h.client_address = f.client_address
    CROSS JOIN time_range AS r
    WHERE r.last_time_ns - f.gone_ns >= s(10) OR (r.last_time_ns - f.gone_ns >= s(3) AND h.waiting >= 3)
)
SELECT * FROM asked
UNION ALL
SELECT * FROM never
UNION ALL
SELECT * FROM missed AS m
WHERE NOT EXISTS (SELECT 1 FROM asked AS a WHERE a.broker = m.broker)
