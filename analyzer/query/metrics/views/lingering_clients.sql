-- Which clients may make no progress in a partition? Those with ten Fetches of it over one connection while its end lay ten records
-- ahead, or with four connections: `stuck_readers` looks at the positions of these alone.
WITH of_connections AS (
    SELECT
        connection,
        client_address,
        client_id,
        coalesce(topic, topic_id) AS topic,
        partition,
        sum(fetches) AS fetches,
        max(ahead) AS ahead
    FROM fetch_sums
    WHERE of_consumer
    GROUP BY connection, client_address, client_id, coalesce(topic, topic_id), partition
)
SELECT client_address, client_id, topic, partition
FROM of_connections
GROUP BY client_address, client_id, topic, partition
HAVING max(ahead) >= 10 AND (count(*) >= 4 OR max(CASE WHEN ahead >= 10 THEN fetches END) >= 10)
