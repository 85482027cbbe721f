-- Which partitions are consumers at? One row per partition: Fetches that name it, of so many connections, how far the greatest lag and
-- the end lay ahead of a position, records. Rules look at positions one by one only where these tell that they may find something.
SELECT
    coalesce(topic, topic_id) AS topic,
    partition,
    CAST(sum(fetches) AS BIGINT) AS fetches,
    count(DISTINCT connection) AS connections,
    max(ahead) AS ahead,
    max(told_lag) AS lag
FROM fetch_sums
GROUP BY coalesce(topic, topic_id), partition
