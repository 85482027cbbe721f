-- Addresses that lead to another cluster or node than clients mean, one row a change.
-- A client names in ApiVersions the cluster and the node that it means, and a broker that is another one refuses (KIP-1242): told is
-- where each of these led. Metadata with this error sends all clients to their bootstrap servers (KIP-1102). Older clients notice
-- nothing: told is an address at which one cluster's brokers answered and then another's, or a client that went from the one to
-- the other where both advertise a common address. Two clusters at one address by turns, each with clients of its own, may be two
-- networks: nothing is said. Information where nobody was refused and nothing failed; high where a client gave up, went on asking in
-- vain for 10 s, or needed 30 s.
WITH codes AS (
    -- What a broker says of members, offsets, producers and topics that another cluster knows.
    SELECT unnest([error('OFFSET_OUT_OF_RANGE', 'UNKNOWN_TOPIC_OR_PARTITION', 'ILLEGAL_GENERATION',
        'UNKNOWN_MEMBER_ID', 'OUT_OF_ORDER_SEQUENCE_NUMBER', 'INVALID_PRODUCER_EPOCH', 'INVALID_TXN_STATE',
        'INVALID_PRODUCER_ID_MAPPING', 'UNKNOWN_PRODUCER_ID', 'GROUP_ID_NOT_FOUND', 'UNKNOWN_TOPIC_ID',
        'INCONSISTENT_TOPIC_ID', 'TRANSACTIONAL_ID_NOT_FOUND', 'FENCED_MEMBER_EPOCH', 'STALE_MEMBER_EPOCH')]) AS code
),
links AS (
    SELECT
        c.connection,
        c.tap,
        c.client_address,
        r.client_id,
        coalesce(r.client_id, c.client_address) AS who,
        c.broker_address || ':' || CAST(c.broker_port AS STRING) AS broker,
        -- Behind a proxy that is told where to go, and by names in TLS, one address leads to several on purpose.
        CASE
            WHEN c.opening IS NULL OR c.opening IN ('proxy_v1', 'proxy_v2')
                THEN c.broker_address || ':' || CAST(c.broker_port AS STRING) || coalesce(' ' || c.tls_server_name, '')
        END AS place,
        c.asked_cluster_id,
        c.asked_node_id,
        c.broker_id,
        -- A name that kanalyze gave is no id.
        CASE WHEN c.cluster NOT LIKE '%:%' THEN c.cluster END AS cluster,
        c.first_time_ns,
        c.last_time_ns
    FROM all_connections AS c JOIN connection_requests AS r ON r.connection = c.connection
    WHERE c.is_kafka AND is_client(c.role)
),
told_off AS (
    SELECT
        l.*,
        x.exchange,
        x.response_time_ns AS time_ns,
        x.api_key = api('ApiVersions') AS is_own,
        coalesce(CASE WHEN x.api_key = api('ApiVersions') THEN l.asked_cluster_id END, l.cluster) AS meant
    FROM errors AS e
    JOIN failed_exchanges AS x ON x.exchange = e.exchange
    JOIN links AS l ON l.connection = x.connection
    WHERE e.code = error('REBOOTSTRAP_REQUIRED') AND x.response_time_ns IS NOT NULL
),
-- Where the refused went: to the cluster whose broker refused, as others tell of it, else to the next one that is another.
refused AS (
    SELECT
        t.exchange,
        t.client_address,
        t.client_id,
        t.who,
        t.broker,
        t.connection,
        t.time_ns,
        t.meant,
        CASE
            WHEN t.is_own AND t.cluster = t.meant THEN t.meant
            WHEN t.is_own AND t.cluster IS NOT NULL THEN t.cluster
            ELSE min_by(n.cluster, (n.first_time_ns, n.connection))
        END AS reached,
        CASE WHEN t.is_own AND t.cluster = t.meant THEN t.asked_node_id END AS node,
        t.is_own
    FROM told_off AS t
    LEFT JOIN links AS n
        ON n.client_address = t.client_address AND n.who = t.who AND n.first_time_ns > t.time_ns AND n.cluster <> t.meant
    GROUP BY
        t.exchange, t.client_address, t.client_id, t.who, t.broker, t.connection, t.time_ns, t.meant, t.is_own, t.cluster,
        t.asked_node_id
),
-- Clusters by client and address, and by address.
seen AS (
    SELECT
        tap,
        client_address,
        client_id,
        who,
        place,
        cluster,
        min(broker) AS broker,
        min_by(connection, (first_time_ns, connection)) AS connection,
        min(first_time_ns) AS first_ns,
        max(first_time_ns) AS last_first_ns,
        max(last_time_ns) AS last_ns
    FROM links
    WHERE cluster IS NOT NULL
    GROUP BY tap, client_address, client_id, who, place, cluster
),
places AS (
    SELECT
        tap,
        place,
        cluster,
        min(broker) AS broker,
        min_by(connection, (first_ns, connection)) AS connection,
        min(first_ns) AS first_ns,
        max(last_ns) AS last_ns
    FROM seen
    WHERE place IS NOT NULL
    GROUP BY tap, place, cluster
),
-- The address that brokers of two clusters advertise.
advertised AS (
    SELECT a.cluster AS meant, b.cluster AS reached, min(a.host || ':' || CAST(a.port AS STRING)) AS address
    FROM brokers AS a JOIN brokers AS b ON b.host = a.host AND b.port = a.port AND b.cluster <> a.cluster
    WHERE a.cluster NOT LIKE '%:%' AND b.cluster NOT LIKE '%:%'
    GROUP BY a.cluster, b.cluster
),
-- A client that went from one cluster to the other.
went AS (
    SELECT
        a.client_address,
        a.client_id,
        a.who,
        a.cluster AS meant,
        b.cluster AS reached,
        min(b.broker) AS broker,
        min_by(b.connection, (b.first_ns, b.connection)) AS connection,
        min(b.first_ns) AS first_ns
    FROM seen AS a
    JOIN seen AS b ON b.tap = a.tap AND b.client_address = a.client_address AND b.who = a.who AND b.cluster <> a.cluster
    LEFT JOIN advertised AS d ON d.meant = a.cluster AND d.reached = b.cluster
    WHERE a.first_ns < b.first_ns AND (a.place = b.place OR d.meant IS NOT NULL)
    GROUP BY a.client_address, a.client_id, a.who, a.cluster, b.cluster
    -- Where it is no common address of the network, or one of each host, the client must have left the first one for good.
    HAVING max(CASE WHEN a.place = b.place AND a.client_address NOT LIKE '127.%' AND a.client_address <> '::1' THEN 1 ELSE 0 END) = 1
        OR (max(a.last_first_ns) < min(b.first_ns) AND max(a.last_ns) - min(b.first_ns) < s(5))
),
clients AS (
    SELECT
        meant,
        reached,
        client_address,
        client_id,
        who,
        CAST(sum(refusals) AS BIGINT) AS refusals,
        min(first_ns) AS first_ns,
        max(last_ns) AS refused_ns,
        max(node) AS node,
        max(is_own) AS is_own,
        min(broker) AS broker,
        min_by(connection, (first_ns, connection)) AS connection,
        min(exchange) AS exchange
    FROM (
        SELECT
            meant, reached, client_address, client_id, who, broker, connection, count(*) AS refusals, min(time_ns) AS first_ns,
            max(time_ns) AS last_ns, max(node) AS node, max(CASE WHEN is_own THEN 1 ELSE 0 END) AS is_own,
            min_by(exchange, (time_ns, exchange)) AS exchange
        FROM refused
        GROUP BY meant, reached, client_address, client_id, who, broker, connection
        UNION ALL
        SELECT
            meant, reached, client_address, client_id, who, broker, connection, 0 AS refusals, first_ns, CAST(NULL AS BIGINT) AS last_ns,
            CAST(NULL AS INTEGER) AS node, 1 AS is_own, CAST(NULL AS BIGINT) AS exchange
        FROM went
    ) AS told
    GROUP BY meant, reached, client_address, client_id, who
),
-- What each of them heard from then on. It went on when a request succeeded that asks for more than where to go.
heard AS (
    SELECT
        c.meant,
        c.reached,
        c.client_address,
        c.who,
        min(x.response_time_ns) FILTER (
            WHERE x.error_code = error('NONE') AND x.api_key NOT IN (api('Metadata', 'FindCoordinator',
                'SaslHandshake', 'ApiVersions', 'SaslAuthenticate', 'DescribeCluster', 'GetTelemetrySubscriptions',
                'PushTelemetry')) AND x.request_time_ns > c.first_ns
                AND (l.cluster = c.reached OR c.reached IS NULL)
        ) AS on_ns,
        max_by(coalesce(x.error_code, error('NONE')), (x.response_time_ns, x.exchange)) AS last_code,
        max(x.response_time_ns) AS last_ns
    FROM clients AS c
    JOIN links AS l ON l.client_address = c.client_address AND l.who = c.who
    JOIN exchanges AS x ON x.connection = l.connection
    WHERE x.response_time_ns >= c.first_ns
    GROUP BY c.meant, c.reached, c.client_address, c.who
),
failed AS (
    SELECT
        c.meant,
        c.reached,
        count(DISTINCT e.exchange) AS failures,
        min_by(coalesce(e.name, CAST(e.code AS STRING)), (x.response_time_ns, e.exchange, e.code)) AS error,
        min_by(e.exchange, (x.response_time_ns, e.exchange)) AS exchange
    FROM clients AS c
    JOIN links AS l ON l.client_address = c.client_address AND l.who = c.who AND l.cluster = c.reached
    JOIN failed_exchanges AS x ON x.connection = l.connection
    JOIN errors AS e ON e.exchange = x.exchange
    WHERE x.response_time_ns BETWEEN c.first_ns AND c.first_ns + s(60) AND c.meant <> c.reached
        AND e.code IN (SELECT code FROM codes)
    GROUP BY c.meant, c.reached
),
judged AS (
    SELECT
        c.*,
        h.on_ns,
        h.last_ns,
        h.on_ns IS NULL AND c.refused_ns - c.first_ns >= s(10) AND r.last_time_ns - c.refused_ns < s(5) AS is_asking,
        (coalesce(h.last_code, error('REBOOTSTRAP_REQUIRED')) IN (SELECT code FROM codes) OR c.refusals > 0
            AND coalesce(h.last_code, error('REBOOTSTRAP_REQUIRED')) <> error('NONE'))
            AND r.last_time_ns - coalesce(h.last_ns, c.first_ns) >= s(5) AS is_lost
    FROM clients AS c
    CROSS JOIN all_time_range AS r
    LEFT JOIN heard AS h
        ON h.client_address = c.client_address AND h.who = c.who AND h.meant IS NOT DISTINCT FROM c.meant AND h.reached IS NOT DISTINCT FROM c.reached
),
cases AS (
    SELECT
        meant,
        reached,
        min(broker) AS broker,
        min_by(connection, (first_ns, connection)) AS connection,
        max(is_own) AS is_own,
        max(node) AS node,
        count(*) FILTER (WHERE refusals > 0) AS refused_count,
        min_by(who, (first_ns, who)) FILTER (WHERE refusals > 0) AS refused_who,
        count(*) FILTER (WHERE refusals = 0) AS moved_count,
        min_by(who, (first_ns, who)) FILTER (WHERE refusals = 0) AS moved_who,
        CAST(sum(refusals) AS BIGINT) AS refusals,
        count(*) FILTER (WHERE on_ns IS NOT NULL AND NOT is_lost) AS went_on,
        max(on_ns - first_ns) FILTER (WHERE NOT is_lost) AS slowest_ns,
        count(*) FILTER (WHERE is_lost) AS lost_count,
        min_by(who, (first_ns, who)) FILTER (WHERE is_lost) AS lost_who,
        count(*) FILTER (WHERE is_asking) AS asking,
        count(*) AS clients,
        min(who) AS least_who,
        max(who) AS greatest_who,
        min(client_address) AS least_address,
        max(client_address) AS greatest_address,
        min_by(exchange, (first_ns, exchange)) FILTER (WHERE refusals > 0) AS exchange,
        min(first_ns) AS first_time_ns,
        max(greatest(coalesce(on_ns, first_ns), coalesce(refused_ns, first_ns), CASE WHEN is_lost THEN last_ns ELSE first_ns END))
            AS last_time_ns
    FROM judged
    GROUP BY meant, reached
    UNION ALL
    -- Where no client came from the one to the other.
    SELECT
        a.cluster AS meant, b.cluster AS reached, min(b.broker) AS broker,
        min_by(b.connection, (b.first_ns, b.connection)) AS connection, 1 AS is_own, CAST(NULL AS INTEGER) AS node,
        0 AS refused_count, CAST(NULL AS STRING) AS refused_who, 0 AS moved_count, CAST(NULL AS STRING) AS moved_who,
        CAST(0 AS BIGINT) AS refusals, 0 AS went_on, CAST(NULL AS BIGINT) AS slowest_ns, 0 AS lost_count,
        CAST(NULL AS STRING) AS lost_who, 0 AS asking, 0 AS clients, CAST(NULL AS STRING) AS least_who,
        CAST(NULL AS STRING) AS greatest_who, CAST(NULL AS STRING) AS least_address, CAST(NULL AS STRING) AS greatest_address,
        CAST(NULL AS BIGINT) AS exchange, min(b.first_ns) AS first_time_ns, min(b.first_ns) AS last_time_ns
    FROM places AS a JOIN places AS b ON b.tap = a.tap AND b.place = a.place AND a.last_ns < b.first_ns
    LEFT JOIN clients AS c ON c.meant = a.cluster AND c.reached = b.cluster
    WHERE c.meant IS NULL
    GROUP BY a.cluster, b.cluster
)
SELECT
    CASE
        WHEN c.is_own = 0 THEN 'cluster ' || coalesce(c.meant, c.broker) || ' sends its clients to their bootstrap servers'
        WHEN c.node IS NOT NULL THEN
            c.broker || ' is not node ' || CAST(c.node AS STRING) || ' of cluster ' || c.meant || ', as clients believe'
        WHEN c.reached IS NULL THEN c.broker || ' is not of cluster ' || coalesce(c.meant, 'that clients mean') || ', as clients believe'
        ELSE coalesce(d.address, c.broker) || ' leads to cluster ' || c.reached || ', before to ' || c.meant
    END AS turned,
    c.meant,
    c.reached,
    c.broker,
    c.connection,
    CASE
        WHEN c.refused_count = 1 THEN c.refused_who || ' was'
        WHEN c.refused_count = 2 THEN c.refused_who || ' and another client were'
        WHEN c.refused_count > 2 THEN c.refused_who || ' and ' || CAST(c.refused_count - 1 AS STRING) || ' other clients were'
    END AS refused_clients,
    nullif(c.refusals, 0) AS refusals,
    CASE
        WHEN c.moved_count = 1 THEN c.moved_who || ' was'
        WHEN c.moved_count = 2 THEN c.moved_who || ' and another client were'
        WHEN c.moved_count > 2 THEN c.moved_who || ' and ' || CAST(c.moved_count - 1 AS STRING) || ' other clients were'
    END AS moved_clients,
    nullif(c.went_on, 0) AS went_on,
    c.slowest_ns,
    CASE
        WHEN c.lost_count = 1 THEN c.lost_who
        WHEN c.lost_count = 2 THEN c.lost_who || ' and another client'
        WHEN c.lost_count > 2 THEN c.lost_who || ' and ' || CAST(c.lost_count - 1 AS STRING) || ' other clients'
    END AS lost,
    nullif(c.asking, 0) AS asking,
    f.failures,
    f.error,
    CASE WHEN c.least_who = c.greatest_who THEN c.least_who END AS who,
    CASE WHEN c.least_address = c.greatest_address THEN c.least_address END AS client_address,
    CASE
        WHEN c.lost_count > 0 OR c.asking > 0 OR c.slowest_ns >= s(30) AND c.refusals > 0 THEN 'high'
        WHEN c.refusals > 0 OR f.failures > 0 THEN 'medium'
        ELSE 'info'
    END AS severity,
    c.clients AS weight,
    c.exchange AS evidence_refused,
    f.exchange AS evidence_failed,
    c.first_time_ns,
    c.last_time_ns
FROM cases AS c
LEFT JOIN advertised AS d ON d.meant = c.meant AND d.reached = c.reached
LEFT JOIN failed AS f ON f.meant = c.meant AND f.reached = c.reached
