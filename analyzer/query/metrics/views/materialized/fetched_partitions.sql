-- Which partitions are consumers at? One row per partition: Fetches that name it, of so many connections, how far the greatest lag and
-- the end lay ahead of a position, records. Rules look at positions one by one only where these tell that they may find something.
SELECT
    coalesce(topic, topic_id) AS topic,
    partition,
    count(*) AS fetches,
    count(DISTINCT connection) AS connections,
    max(coalesce(new_end_offset, end_offset) - fetch_offset) AS ahead,
    max(coalesce(lag, new_end_offset - fetch_offset)) AS lag
FROM fetch_positions
GROUP BY coalesce(topic, topic_id), partition
