-- Which partitions are consumers at? One row per partition: of so many connections, with the greatest lag, records. Rules look further
-- only where these tell that they may find something.
SELECT
    coalesce(topic, topic_id) AS topic,
    partition,
    count(DISTINCT connection) AS connections,
    max(told_lag) AS lag
FROM fetch_sums
GROUP BY coalesce(topic, topic_id), partition
