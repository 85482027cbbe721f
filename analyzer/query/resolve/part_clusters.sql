-- The Kafka cluster of each part: the cluster id in its replies, or the one that its client named and its broker accepted; else
-- the only cluster to which the broker's address belongs according to other parts. Where no reply had an id (Metadata before v2),
-- parts whose replies list common broker addresses get a common name, the least of these addresses. An address that two clusters
-- claim has no cluster. `told_by`: the part's own replies told the 'id', or it is named by an 'address'.
WITH bodies AS (
    SELECT part, body FROM raw_reported GROUP BY part, body
),
-- A broker that knows version 5 tells what it offers only to a client that means its cluster, or none (KIP-1242).
accepted AS (
    SELECT q.part, f.asked_cluster_id AS cluster
    FROM raw_reported AS q
    JOIN raw_asked_facts AS f ON f.body = q.body
    JOIN raw_reported AS r ON r.exchange = q.exchange
    JOIN raw_version_facts AS v ON v.body = r.body
    WHERE f.asked_cluster_id IS NOT NULL AND v.api_key = api('ApiVersions') AND v.max_version >= 5
),
told AS (
    SELECT part, min(cluster) AS cluster
    FROM (
        SELECT b.part, f.cluster_id AS cluster
        FROM bodies AS b JOIN raw_cluster_facts AS f ON f.body = b.body
        WHERE f.cluster_id IS NOT NULL
        UNION ALL
        SELECT part, cluster FROM accepted
    ) AS said
    GROUP BY part
    HAVING min(cluster) = max(cluster)
),
advertised AS (
    SELECT b.part, f.host, f.port
    FROM bodies AS b JOIN raw_broker_facts AS f ON f.body = b.body
    WHERE f.host IS NOT NULL AND f.port > 0
    GROUP BY b.part, f.host, f.port
),
owned AS (
    SELECT address, port, min(cluster) AS cluster
    FROM (
        SELECT p.broker_address AS address, p.broker_port AS port, t.cluster
        FROM told AS t JOIN parts AS p ON p.part = t.part
        UNION ALL
        SELECT a.host AS address, a.port, t.cluster FROM told AS t JOIN advertised AS a ON a.part = t.part
        UNION ALL
        SELECT address, port, cluster FROM earlier_clusters WHERE told_by = 'id'
    ) AS claims
    GROUP BY address, port
    HAVING min(cluster) = max(cluster)
),
-- The least address that the replies of a part list; then, twice, the least one of all parts that list a common address.
unnamed AS (
    SELECT a.part, a.host, a.port, a.host || ':' || CAST(a.port AS STRING) AS name
    FROM advertised AS a LEFT JOIN told AS t ON t.part = a.part
    WHERE t.part IS NULL
),
first_names AS (
    SELECT part, host, port, min(name) OVER (PARTITION BY part) AS name FROM unnamed
    UNION ALL
    SELECT -row_number() OVER () AS part, address AS host, port, cluster AS name FROM earlier_clusters WHERE told_by = 'address'
),
shared_names AS (
    SELECT part, host, port, min(name) OVER (PARTITION BY host, port) AS name FROM first_names
),
second_names AS (
    SELECT part, host, port, min(name) OVER (PARTITION BY part) AS name FROM shared_names
),
last_names AS (
    SELECT part, host, port, min(name) OVER (PARTITION BY host, port) AS name FROM second_names
),
part_names AS (
    SELECT n.part, min(o.cluster) AS cluster, max(o.cluster) AS other, min(n.name) AS name
    FROM last_names AS n LEFT JOIN owned AS o ON o.address = n.host AND o.port = n.port
    GROUP BY n.part
),
address_names AS (
    SELECT host, port, min(name) AS name FROM last_names GROUP BY host, port
)
SELECT
    p.part,
    coalesce(
        t.cluster,
        o.cluster,
        CASE WHEN n.cluster = n.other THEN n.cluster END,
        CASE WHEN n.cluster IS NULL THEN coalesce(n.name, a.name) END
    ) AS cluster,
    CASE
        WHEN t.cluster IS NOT NULL THEN 'id'
        WHEN o.cluster IS NULL AND n.cluster IS NULL AND coalesce(n.name, a.name) IS NOT NULL THEN 'address'
    END AS told_by
FROM parts AS p
LEFT JOIN told AS t ON t.part = p.part
LEFT JOIN owned AS o ON o.address = p.broker_address AND o.port = p.broker_port
LEFT JOIN part_names AS n ON n.part = p.part
LEFT JOIN address_names AS a ON a.host = p.broker_address AND a.port = p.broker_port
