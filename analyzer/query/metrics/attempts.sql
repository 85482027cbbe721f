-- Which connection attempts came to nothing, and where from? A row for those without an answer (`none`), one for those that were
-- refused by a reset (`reset`), before a byte was exchanged. Never filtered. A client is an address, a broker address and port;
-- an address or a port that all have is named.
WITH by_client AS (
    SELECT failed AS answer, client_address, count(*) AS attempts
    FROM connections_seen
    WHERE failed IS NOT NULL
    GROUP BY failed, client_address
),
by_broker AS (
    SELECT failed AS answer, broker_address, broker_port
    FROM connections_seen
    WHERE failed IS NOT NULL
    GROUP BY failed, broker_address, broker_port
),
clients AS (
    SELECT
        answer,
        CAST(sum(attempts) AS BIGINT) AS attempts,
        count(*) AS clients,
        CASE WHEN count(*) = 1 THEN min(client_address) END AS client_address
    FROM by_client
    GROUP BY answer
),
brokers AS (
    SELECT
        answer,
        count(*) AS brokers,
        CASE WHEN min(broker_address) = max(broker_address) THEN min(broker_address) END AS broker_address,
        CASE WHEN min(broker_port) = max(broker_port) THEN min(broker_port) END AS port
    FROM by_broker
    GROUP BY answer
)
SELECT c.answer, c.attempts, c.clients, c.client_address, b.brokers, b.broker_address, b.port
FROM clients AS c JOIN brokers AS b ON b.answer = c.answer
ORDER BY c.answer
