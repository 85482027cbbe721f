-- Which broker is at each address with its port? Never filtered. A broker may have several listeners: it is one where replies told which
-- node an address is. At the address of a broker, where no reply names it, a listener for controllers and brokers alone, or a proxy
-- before a broker, is no further one.
WITH endpoints AS (
    SELECT
        broker_address,
        broker_port,
        CASE WHEN max(broker_id) IS NOT NULL
            THEN 'node ' || CAST(max(broker_id) AS STRING) || ' of ' || coalesce(max(cluster), '') END AS node
    FROM all_connections
    WHERE is_kafka AND forwarded_from IS NULL
    GROUP BY broker_address, broker_port
)
SELECT
    broker_address,
    broker_port,
    coalesce(
        node,
        min(node) OVER (PARTITION BY broker_address),
        broker_address || ':' || CAST(broker_port AS STRING)
    ) AS broker
FROM endpoints
