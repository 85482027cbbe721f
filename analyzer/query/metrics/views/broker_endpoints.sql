-- Which broker is at each address with its port? Never filtered. A broker may have several listeners: it is one where replies told which
-- node an address is. At the address of a broker, where no reply names it, a listener for controllers and brokers alone, or a proxy
-- before a broker, is no further one; nor is an address that a cluster does not name while it names all its brokers by addresses, or
-- that carries on to an address that clients use too (a load balancer, a forwarder). What answers in another protocol is no broker.
-- `nodes`: as many as its cluster listed, so more than these are no brokers of it; null: no whole list was read.
WITH endpoints AS (
    SELECT
        broker_address,
        broker_port,
        max(cluster) AS cluster,
        CASE WHEN max(broker_id) IS NOT NULL
            THEN 'node ' || CAST(max(broker_id) AS STRING) || ' of ' || coalesce(max(cluster), '') END AS node
    FROM all_connections
    WHERE is_kafka AND forwarded_from IS NULL
    GROUP BY broker_address, broker_port
    HAVING count(*) > count(broker_speaks)
),
named AS (
    SELECT cluster FROM all_brokers GROUP BY cluster HAVING NOT bool_or(is_name(host))
),
-- Clusters of whose Metadata replies one was surely read to the end: other messages name an id before the list of brokers, or one
-- broker, or controllers. A name that is an address was given for want of an id.
whole AS (
    SELECT DISTINCT c.cluster
    FROM all_totals AS t JOIN all_connections AS c ON c.connection = t.connection
    WHERE t.metadata_requests > 0 AND t.status = 'answered' AND t.unread_replies = 0
        AND c.broker_cut_bytes = 0 AND c.broker_gap_bytes = 0 AND cluster_id(c) IS NOT NULL
),
listed AS (
    SELECT b.cluster, count(DISTINCT b.broker_id) AS nodes
    FROM all_brokers AS b JOIN whole AS w ON w.cluster = b.cluster
    GROUP BY b.cluster
),
carried AS (
    SELECT o.broker_address, o.broker_port, min(i.broker_address || ':' || CAST(i.broker_port AS STRING)) AS broker
    FROM all_connections AS i
    JOIN all_connections AS o ON o.connection = i.forwarded_from
    JOIN endpoints AS e ON e.broker_address = i.broker_address AND e.broker_port = i.broker_port
    GROUP BY o.broker_address, o.broker_port
)
SELECT
    e.broker_address,
    e.broker_port,
    e.cluster,
    l.nodes,
    coalesce(
        e.node,
        min(e.node) OVER (PARTITION BY e.broker_address),
        CASE WHEN n.cluster IS NOT NULL THEN min(e.node) OVER (PARTITION BY e.cluster) END,
        c.broker,
        e.broker_address || ':' || CAST(e.broker_port AS STRING)
    ) AS broker
FROM endpoints AS e
LEFT JOIN named AS n ON n.cluster = e.cluster
LEFT JOIN carried AS c ON c.broker_address = e.broker_address AND c.broker_port = e.broker_port
LEFT JOIN listed AS l ON l.cluster = e.cluster
