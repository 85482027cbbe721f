-- The cluster of a host on which brokers listen, where it is one: connections to controllers do not tell their own. Never filtered.
SELECT broker_address AS host, min(cluster) AS cluster
FROM all_connections
WHERE cluster IS NOT NULL
GROUP BY broker_address
HAVING min(cluster) = max(cluster)
