-- Which clients read which partition? One row per client and partition: the greatest lag, records; how many connections of anybody read it
-- (`connections`); `lingers`: the client may make no progress, with ten Fetches over one connection while the end lay ten records ahead,
-- or with four connections. Rules look further only where these tell that they may find something.
WITH of_connections AS (
    SELECT
        connection,
        client_address,
        client_id,
        coalesce(topic, topic_id) AS topic,
        partition,
        sum(fetches) AS fetches,
        max(ahead) AS ahead,
        max(told_lag) AS lag
    FROM fetch_sums
    WHERE of_consumer
    GROUP BY connection, client_address, client_id, coalesce(topic, topic_id), partition
)
SELECT
    client_address,
    client_id,
    topic,
    partition,
    max(lag) AS lag,
    sum(count(*)) OVER (PARTITION BY topic, partition) AS connections,
    max(ahead) >= 10 AND sum(fetches) >= 10 AND (count(*) >= 4 OR max(CASE WHEN ahead >= 10 THEN fetches END) >= 10) AS lingers
FROM of_connections
GROUP BY client_address, client_id, topic, partition
