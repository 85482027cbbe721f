-- Where clients find the broker of a host: one row per address that listens for them at one port alone. Never filtered.
SELECT broker_address, broker_address || ':' || CAST(min(broker_port) AS STRING) AS broker
FROM all_connections
WHERE is_client(role) AND is_kafka
GROUP BY broker_address
HAVING min(broker_port) = max(broker_port)
