-- Which offsets did groups commit? One row per group and partition: the last offset that a reply did not refuse, when, by whom, how many
-- commits there were, and how many records the newest end that any reader was told lies ahead (`committed_lag`, null: no end is known).
-- What a transaction commits counts when the transaction does.
WITH commits AS (
    SELECT x.exchange, x.connection, x.group_id, x.request_time_ns
    FROM all_exchanges AS x
    WHERE x.api_key = api('OffsetCommit') AND x.response_decoded = 'full'
    UNION ALL
    SELECT x.exchange, x.connection, x.group_id, x.request_time_ns
    FROM all_exchanges AS x JOIN transactions_seen AS t ON t.transactional_id = x.transactional_id
    WHERE x.api_key = api('TxnOffsetCommit') AND x.response_decoded = 'full' AND t.outcome = 'committed'
        AND x.request_time_ns >= t.begin_ns AND x.request_time_ns <= t.end_ns
),
refused AS (
    SELECT DISTINCT r.exchange, coalesce(r.topic, r.topic_id) AS topic, r.partition
    FROM all_errors AS r JOIN commits AS x ON x.exchange = r.exchange
),
-- Each commit has many partitions: names that all of a connection share are joined when they are summed.
speakers AS (
    SELECT x.connection, x.group_id, c.client_address, coalesce(c.cluster, '') AS cluster, row_number() OVER () AS speaker
    FROM (SELECT DISTINCT connection, group_id FROM commits) AS x JOIN all_connections AS c ON c.connection = x.connection
),
spoken AS (
    SELECT x.exchange, x.request_time_ns, s.speaker
    FROM commits AS x JOIN speakers AS s ON s.connection = x.connection AND s.group_id IS NOT DISTINCT FROM x.group_id
),
summed AS (
    SELECT
        x.speaker,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        max_by(e.offset, x.request_time_ns) AS committed_offset,
        max(x.request_time_ns) AS committed_time_ns,
        count(*) AS commits
    FROM all_entries AS e
        JOIN spoken AS x ON x.exchange = e.exchange
        LEFT JOIN refused AS r
            ON r.exchange = e.exchange AND r.topic = coalesce(e.topic, e.topic_id) AND r.partition = e.partition
    WHERE e.side = 'request' AND e.offset >= 0 AND r.exchange IS NULL
    GROUP BY x.speaker, coalesce(e.topic, e.topic_id), e.partition
),
committed AS (
    SELECT
        s.cluster,
        s.group_id,
        k.topic,
        k.partition,
        max_by(k.committed_offset, k.committed_time_ns) AS committed_offset,
        max_by(s.client_address, k.committed_time_ns) AS client_address,
        max(k.committed_time_ns) AS committed_time_ns,
        CAST(sum(k.commits) AS BIGINT) AS commits
    FROM summed AS k JOIN speakers AS s ON s.speaker = k.speaker
    GROUP BY s.cluster, s.group_id, k.topic, k.partition
)
SELECT k.*, greatest(p.newest_end - k.committed_offset, 0) AS committed_lag
FROM committed AS k
    LEFT JOIN (
        SELECT coalesce(cluster, '') AS cluster, topic, partition, max(newest_end) AS newest_end
        FROM partition_readers
        GROUP BY coalesce(cluster, ''), topic, partition
    ) AS p ON p.cluster = k.cluster AND p.topic = k.topic AND p.partition = k.partition
