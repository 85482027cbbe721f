-- Addresses at which several brokers are: on one machine, or behind one address. Who asks from there may be any of them. Never filtered.
SELECT broker_address AS host
FROM all_connections
WHERE is_kafka
GROUP BY broker_address
HAVING count(DISTINCT broker_id) > 1 OR count(DISTINCT cluster_id()) > 1
    OR bool_or(role = 'follower' AND client_address = broker_address)
