-- Which advertised addresses do clients get who ask at a port of a cluster (`asked_port`)? Those of that port. Where the cluster advertises
-- none of it, somebody translates ports, as containers and nodes of Kubernetes do: its only address, or those at whose ports nobody speaks
-- Kafka.
WITH told AS (
    SELECT cluster, host, port, count(*) OVER (PARTITION BY cluster) AS addresses FROM brokers GROUP BY cluster, host, port
),
asked AS (
    SELECT cluster, broker_port AS asked_port FROM all_connections WHERE is_kafka GROUP BY cluster, broker_port
)
SELECT a.cluster, a.asked_port, t.host, t.port
FROM asked AS a
JOIN told AS t ON t.cluster IS NOT DISTINCT FROM a.cluster
LEFT JOIN (SELECT DISTINCT cluster, port FROM told) AS s ON s.cluster IS NOT DISTINCT FROM a.cluster AND s.port = a.asked_port
LEFT JOIN (SELECT DISTINCT asked_port FROM asked) AS u ON u.asked_port = t.port
WHERE t.port = a.asked_port OR (s.port IS NULL AND (u.asked_port IS NULL OR t.addresses = 1))
