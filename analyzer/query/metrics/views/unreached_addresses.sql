-- Which advertised addresses do clients not reach? One row per client, or per host of whose `clients` together `times` attempts failed,
-- with one of the addresses and how many `more` there are; the client
-- goes on to ask `asked_again`, or went silent after `told_by` had told it so; `own_host` says that the address is the
-- client itself.
-- The broker that answers Metadata advertises the address; SYNs to it get no answer or a reset and no connection to it ever spoke
-- Kafka, while the client goes on to ask for metadata, 10 s at least; or gives up after two attempts, though the broker that has this
-- address goes on to answer at another one of its own for as long; or ten packets in five seconds have no answer, while the client asks
-- for metadata three times at an address that no broker advertises; or three packets in three seconds have no answer while that broker
-- answers elsewhere, and this host is not seen on any connection of Kafka since the first. A loopback address is tried within the
-- client's own host, where seldom somebody captures: then it is enough that a client on another host is told so, and
-- comes back on five connections for metadata alone. A name that cannot be resolved leads to no packet at all: told is the client of a group to which
-- FindCoordinator named its coordinator, and which for 10 s and more, to the end, asked no broker for anything that needs one; in a
-- cluster of one broker alone, as else it may have gone on with another, of which this capture has nothing.
-- Names that others may be unable to resolve: `unresolved_names`. Of a reply that was cut only the first addresses are known: a host that
-- fails at one of them, and at others of that port, was told those too.
WITH failed AS (
    SELECT client_address, broker_address, broker_port, connection, first_time_ns, last_time_ns, client_packets
    FROM connections
    WHERE is_kafka IS NOT TRUE AND never_answered()
),
reached AS (
    SELECT broker_address, broker_port FROM all_connections WHERE is_kafka GROUP BY broker_address, broker_port
),
told AS (
    SELECT f.*, b.host || ':' || CAST(b.port AS STRING) AS advertised, b.cluster
    FROM failed AS f
    JOIN (SELECT host, port, cluster FROM brokers GROUP BY host, port, cluster) AS b
        ON b.port = f.broker_port AND (b.host = f.broker_address OR b.host = 'localhost' AND f.broker_address IN ('127.0.0.1', '::1'))
),
told_in_part AS (
    SELECT f.*, f.broker_address || ':' || CAST(f.broker_port AS STRING) AS advertised, t.cluster
    FROM failed AS f
    JOIN (SELECT client_address, broker_port, min(cluster) AS cluster FROM told GROUP BY client_address, broker_port) AS t
        ON t.client_address = f.client_address AND t.broker_port = f.broker_port
    WHERE f.connection NOT IN (SELECT connection FROM told) AND EXISTS (
        SELECT 1 FROM exchanges AS x
        WHERE x.api_key = api('Metadata') AND x.client_address = f.client_address AND x.response_decoded = 'truncated'
    )
),
tried AS (
    SELECT
        f.client_address,
        f.broker_address,
        f.broker_port,
        f.advertised,
        f.cluster,
        count(*) AS times,
        CAST(sum(CASE WHEN f.client_packets > 1 THEN f.client_packets ELSE 1 END) AS BIGINT) AS packets,
        min_by(f.connection, (f.first_time_ns, f.connection)) AS connection,
        min(f.first_time_ns) AS first_time_ns,
        max(f.last_time_ns) AS last_time_ns
    FROM (SELECT * FROM told UNION ALL SELECT * FROM told_in_part) AS f
    LEFT JOIN reached AS r ON r.broker_address = f.broker_address AND r.broker_port = f.broker_port
    WHERE r.broker_address IS NULL
    GROUP BY f.client_address, f.broker_address, f.broker_port, f.advertised, f.cluster
),
asking AS (
    SELECT
        c.cluster,
        x.client_address,
        who(x) AS who,
        x.broker_address,
        x.broker_port,
        x.broker_address || ':' || CAST(x.broker_port AS STRING) AS bootstrap,
        count(DISTINCT x.connection) AS connections,
        count(*) AS requests,
        max_by(x.exchange, (x.request_time_ns, x.exchange)) AS exchange,
        min(x.request_time_ns) AS first_ns,
        max(x.request_time_ns) AS last_ns
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_key = api('Metadata') AND x.status = 'answered' AND is_client(x.role)
    GROUP BY c.cluster, x.client_address, who(x), x.broker_address, x.broker_port
),
-- Clients that were told a coordinator, by a cluster that advertises a name to who comes by that port.
named AS (
    SELECT
        x.client_address,
        who(x) AS who,
        b.host,
        b.port,
        b.cluster,
        max(x.response_time_ns) AS told_ns
    FROM exchanges AS x
    JOIN connections AS c ON c.connection = x.connection
    JOIN told_listeners AS l ON l.cluster IS NOT DISTINCT FROM c.cluster AND l.asked_port = x.broker_port
    JOIN brokers AS b
        ON b.cluster IS NOT DISTINCT FROM c.cluster AND b.host = l.host AND b.port = l.port
        AND x.response_time_ns BETWEEN b.first_time_ns AND b.last_time_ns
    JOIN (SELECT cluster, count(DISTINCT broker_id) AS brokers FROM brokers GROUP BY cluster) AS n
        ON n.cluster IS NOT DISTINCT FROM c.cluster
    WHERE x.api_key = api('FindCoordinator') AND x.status = 'answered' AND no_error(x.error_code) AND is_client(x.role)
        AND n.brokers = 1
        AND b.host <> 'localhost' AND is_name(b.host)
    GROUP BY x.client_address, who(x), b.host, b.port, b.cluster
),
advertised AS (
    -- A client tries one address of its cluster after the other.
    SELECT
        *,
        CAST(NULL AS STRING) AS own_host,
        CAST(NULL AS STRING) AS stuck,
        min(first_time_ns) OVER of_host AS begin_ns,
        max(last_time_ns) OVER of_host AS end_ns
    FROM tried
    WINDOW of_host AS (PARTITION BY client_address, cluster, broker_port)
    UNION ALL
    SELECT
        q.client_address,
        b.host AS broker_address,
        b.port AS broker_port,
        b.host || ':' || CAST(b.port AS STRING) AS advertised,
        b.cluster,
        CAST(NULL AS BIGINT) AS times,
        CAST(NULL AS BIGINT) AS packets,
        CAST(NULL AS BIGINT) AS connection,
        q.first_ns AS first_time_ns,
        q.last_ns AS last_time_ns,
        CASE WHEN b.host IN ('0.0.0.0', '::') THEN 'which is no address of a host' ELSE 'which is its own host' END AS own_host,
        CAST(NULL AS STRING) AS stuck,
        q.first_ns AS begin_ns,
        q.last_ns AS end_ns
    FROM asking AS q
    JOIN told_listeners AS b ON b.cluster IS NOT DISTINCT FROM q.cluster AND b.asked_port = q.broker_port
    LEFT JOIN tried AS t ON t.broker_port = b.port AND t.broker_address IN ('127.0.0.1', '::1')
    WHERE b.host IN ('localhost', '127.0.0.1', '::1', '0.0.0.0', '::') AND t.broker_port IS NULL
        AND (q.connections >= 5 OR q.requests >= 10 AND b.host IN ('0.0.0.0', '::'))
        AND q.client_address NOT LIKE '127.%' AND q.client_address NOT IN ('::1', q.broker_address)
    UNION ALL
    SELECT
        n.client_address,
        n.host AS broker_address,
        n.port AS broker_port,
        n.host || ':' || CAST(n.port AS STRING) AS advertised,
        n.cluster,
        CAST(NULL AS BIGINT) AS times,
        CAST(NULL AS BIGINT) AS packets,
        CAST(NULL AS BIGINT) AS connection,
        n.told_ns AS first_time_ns,
        r.last_time_ns,
        CAST(NULL AS STRING) AS own_host,
        n.who AS stuck,
        n.told_ns AS begin_ns,
        r.last_time_ns AS end_ns
    FROM named AS n
    CROSS JOIN time_range AS r
    LEFT JOIN connections AS c
        ON c.client_address = n.client_address AND c.first_time_ns > n.told_ns
    WHERE r.last_time_ns - n.told_ns >= s(10)
    GROUP BY n.client_address, n.host, n.port, n.cluster, n.told_ns, r.last_time_ns, n.who
    HAVING count(c.connection) = 0
),
-- When the broker that is advertised so was last heard of at another address of its own.
alive AS (
    SELECT b.host, b.port, max(c.last_time_ns) AS alive_ns
    FROM brokers AS b
    JOIN brokers AS o
        ON o.cluster IS NOT DISTINCT FROM b.cluster AND o.broker_id = b.broker_id AND (o.host <> b.host OR o.port <> b.port)
    JOIN all_connections AS c ON c.broker_address = o.host AND c.broker_port = o.port
    WHERE c.is_kafka AND c.replies > 0
    GROUP BY b.host, b.port
),
-- A client asks several brokers, which all say the same.
unreached AS (
    SELECT
        q.client_address,
        CASE WHEN a.times IS NULL OR min(q.who) OVER host = max(q.who) OVER host THEN q.who END AS who,
        CASE WHEN a.times IS NOT NULL AND min(q.who) OVER host < max(q.who) OVER host THEN count(DISTINCT q.who) OVER host END AS clients,
        a.broker_address || ':' || CAST(a.broker_port AS STRING) AS broker,
        a.advertised,
        q.bootstrap,
        a.times,
        a.own_host,
        CASE
            WHEN a.stuck IS NULL AND q.requests > 1 AND greatest(a.end_ns, q.last_ns) - least(a.begin_ns, q.first_ns) >= s(10)
                THEN q.bootstrap
        END AS asked_again,
        CASE WHEN a.stuck IS NOT NULL THEN q.bootstrap END AS told_by,
        a.connection,
        coalesce(a.times, q.connections) AS weight,
        q.exchange AS evidence_metadata,
        a.first_time_ns,
        greatest(a.last_time_ns, q.last_ns) AS last_time_ns
    FROM advertised AS a
    LEFT JOIN (SELECT cluster, count(DISTINCT client_address) AS hosts FROM asking GROUP BY cluster) AS h
        ON h.cluster IS NOT DISTINCT FROM a.cluster
    JOIN asking AS q
        ON q.cluster IS NOT DISTINCT FROM a.cluster
        AND (
            q.client_address = a.client_address OR a.client_address IN ('127.0.0.1', '::1')
            -- A host with addresses of both families asks with one and tries with the other: told where no other host asks.
            OR ((q.client_address LIKE '%:%') <> (a.client_address LIKE '%:%') AND h.hosts = 1)
        )
        AND q.who = coalesce(a.stuck, q.who)
    JOIN idle_askers AS i ON i.client_address = q.client_address AND i.who = q.who AND i.bootstrap = q.bootstrap
    LEFT JOIN alive AS l ON l.host = a.broker_address AND l.port = a.broker_port
    WHERE greatest(a.end_ns, q.last_ns) - least(a.begin_ns, q.first_ns) >= s(10)
        OR (a.packets >= 2 AND l.alive_ns - a.last_time_ns >= s(10))
        OR (a.packets >= 10 AND q.requests >= 3 AND q.last_ns - a.begin_ns >= s(5)
            AND q.bootstrap NOT IN (SELECT host || ':' || CAST(port AS STRING) FROM brokers))
        OR (
            a.packets >= 3 * a.times AND a.last_time_ns - a.first_time_ns >= s(3) AND l.alive_ns >= a.last_time_ns
            AND NOT EXISTS (
                SELECT 1 FROM all_connections AS k
                WHERE k.client_address = a.client_address AND k.is_kafka AND k.last_time_ns > a.first_time_ns + s(1)
            )
        )
    WINDOW host AS (PARTITION BY a.client_address, a.times IS NULL, a.advertised)
    -- Attempts are those of a host, whose clients share them: one row.
    QUALIFY row_number() OVER (
        PARTITION BY
            CASE WHEN a.times IS NULL THEN q.client_address ELSE a.client_address END, CASE WHEN a.times IS NULL THEN q.who END, a.advertised
        ORDER BY q.last_ns DESC, q.bootstrap, q.client_address, q.who, a.cluster
    ) = 1
)
SELECT
    * REPLACE (
        CASE WHEN count(*) OVER alike = 1 THEN broker END AS broker,
        CAST(sum(times) OVER alike AS BIGINT) AS times,
        CAST(sum(weight) OVER alike AS BIGINT) AS weight,
        min(first_time_ns) OVER alike AS first_time_ns,
        max(last_time_ns) OVER alike AS last_time_ns
    ),
    nullif(count(*) OVER alike - 1, 0) AS more
FROM unreached
WINDOW alike AS (PARTITION BY client_address, who, clients, own_host, times IS NULL, asked_again, told_by)
QUALIFY row_number() OVER (
    PARTITION BY client_address, who, clients, own_host, times IS NULL, asked_again, told_by ORDER BY weight DESC, advertised
) = 1
