-- Of which topics do records cross zones? One row per topic, whether it is replication, and direction (written to brokers, read from
-- them): bytes of records as messages carry them, without headers of messages and packets, within a zone, across zones, and unknown.
-- At most 1,000 rows of `total_rows`.
SELECT
    coalesce(e.topic, e.topic_id) AS topic,
    NOT z.of_client AS between_brokers,
    CASE e.side WHEN 'request' THEN 'written' ELSE 'read' END AS way,
    CAST(coalesce(sum(e.record_bytes) FILTER (WHERE z.zone_way = 'within'), 0) AS BIGINT) AS within_bytes,
    CAST(coalesce(sum(e.record_bytes) FILTER (WHERE z.zone_way = 'across'), 0) AS BIGINT) AS across_bytes,
    CAST(coalesce(sum(e.record_bytes) FILTER (WHERE z.zone_way = 'unknown'), 0) AS BIGINT) AS unknown_bytes,
    count(*) OVER () AS total_rows
FROM entries AS e JOIN zone_ways AS z ON z.connection = e.connection
WHERE e.record_bytes > 0
GROUP BY coalesce(e.topic, e.topic_id), z.of_client, e.side
ORDER BY across_bytes DESC, unknown_bytes DESC, within_bytes DESC, topic, between_brokers, way
LIMIT 1000
