-- Which offsets did groups commit? One row per group and partition: the last offset that a reply did not refuse, when, by whom, how many
-- commits there were, and how many records the newest end that any reader was told lies ahead (`committed_lag`; null: no end is known).
-- Where no cluster is known and there are several brokers, two of which may have a topic of this name, only what the client that committed
-- was told itself counts (`of_client`): a client has one cluster.
WITH committed AS (
    SELECT
        coalesce(c.cluster, '') AS cluster,
        k.group_id,
        k.topic,
        k.partition,
        max_by(k.committed_offset, k.committed_time_ns) AS committed_offset,
        max_by(k.client_address, k.committed_time_ns) AS client_address,
        coalesce(max_by(k.client_id, k.committed_time_ns), '') AS client_id,
        max(k.committed_time_ns) AS committed_time_ns,
        CAST(sum(k.commits) AS BIGINT) AS commits
    FROM commit_sums AS k JOIN all_connections AS c ON c.connection = k.connection
    GROUP BY coalesce(c.cluster, ''), k.group_id, k.topic, k.partition
)
SELECT
    k.*,
    p.newest_end IS NULL AS of_client,
    greatest(coalesce(p.newest_end, o.newest_end) - k.committed_offset, 0) AS committed_lag
FROM committed AS k
    LEFT JOIN (
        SELECT coalesce(cluster, '') AS cluster, topic, partition, max(newest_end) AS newest_end
        FROM partition_readers
        WHERE cluster IS NOT NULL
            OR (SELECT count(DISTINCT broker_address) FROM connections WHERE is_kafka AND cluster IS NULL) = 1
        GROUP BY coalesce(cluster, ''), topic, partition
    ) AS p ON p.cluster = k.cluster AND p.topic = k.topic AND p.partition = k.partition
    LEFT JOIN (
        SELECT client_address, coalesce(client_id, '') AS client_id, topic, partition, max(last_end) AS newest_end
        FROM partition_readers
        GROUP BY client_address, coalesce(client_id, ''), topic, partition
    ) AS o ON o.client_address = k.client_address AND o.client_id = k.client_id AND o.topic = k.topic AND o.partition = k.partition
