-- Which cluster an address belongs to, as all captures so far told, for those that follow (`earlier_clusters`). `told_by`: an 'id', or
-- an 'address' after which the cluster is called; 'reached': the address of a connection, of whatever name.
WITH listed AS (
    SELECT r.part, f.host, f.port
    FROM raw_reported AS r JOIN raw_broker_facts AS f ON f.body = r.body
    WHERE f.host IS NOT NULL AND f.port > 0
    GROUP BY r.part, f.host, f.port
),
reached AS (
    SELECT p.broker_address AS address, p.broker_port AS port, c.cluster, c.told_by
    FROM part_clusters AS c JOIN parts AS p ON p.part = c.part
    WHERE c.cluster IS NOT NULL
)
SELECT l.host AS address, CAST(l.port AS BIGINT) AS port, c.cluster, c.told_by
FROM part_clusters AS c JOIN listed AS l ON l.part = c.part
WHERE c.told_by IS NOT NULL
UNION
SELECT address, CAST(port AS BIGINT), cluster, told_by FROM reached WHERE told_by = 'id'
UNION
SELECT address, CAST(port AS BIGINT), cluster, 'reached' FROM reached
UNION
SELECT address, port, cluster, told_by FROM earlier_clusters
