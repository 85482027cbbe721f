-- Members of groups that have asked for nothing more of a partition for as long as a client may be stuck, to the end, while somebody wrote
-- there: one row a client and partition. Their heartbeats went on until the last ten seconds, on the connection by which they had joined
-- before (another life of the same client is another member), and nobody of their group read it later.
WITH read AS (
    SELECT
        c.cluster,
        s.client_address,
        s.client_id,
        g.group_id,
        coalesce(s.topic, s.topic_id) AS topic,
        s.partition,
        max(s.last_time_ns) AS since_ns
    FROM fetch_sums AS s
    JOIN connections AS c ON c.connection = s.connection
    JOIN client_groups AS g
        ON g.cluster = coalesce(c.cluster, '') AND g.client_address = s.client_address AND g.client_id = coalesce(s.client_id, '')
    WHERE s.of_consumer AND g.group_id IS NOT NULL
    GROUP BY c.cluster, s.client_address, s.client_id, g.group_id, coalesce(s.topic, s.topic_id), s.partition
    QUALIFY max(s.last_time_ns) = max(max(s.last_time_ns)) OVER (PARTITION BY c.cluster, g.group_id, coalesce(s.topic, s.topic_id), s.partition)
),
alive AS (
    SELECT
        client_address, client_id, group_id, connection, min(first_time_ns) AS first_ns,
        max(last_time_ns) FILTER (WHERE api_key IN (api('Heartbeat', 'ConsumerGroupHeartbeat'))) AS last_ns
    FROM all_group_requests
    GROUP BY client_address, client_id, group_id, connection
),
written AS (
    SELECT c.cluster, w.topic, w.partition, max(w.last_time_ns) AS last_ns
    FROM written_sums AS w JOIN connections AS c ON c.connection = w.connection
    GROUP BY c.cluster, w.topic, w.partition
)
SELECT r.*, t.last_time_ns AS until_ns
FROM read AS r
CROSS JOIN time_range AS t
JOIN alive AS a
    ON a.client_address = r.client_address AND a.client_id IS NOT DISTINCT FROM r.client_id AND a.group_id = r.group_id
    AND a.first_ns <= r.since_ns
JOIN written AS w ON w.cluster IS NOT DISTINCT FROM r.cluster AND w.topic = r.topic AND w.partition = r.partition
WHERE t.last_time_ns - r.since_ns >= impact('stuck_ns') AND t.last_time_ns - a.last_ns < s(10) AND w.last_ns > r.since_ns
