-- How far behind is each consumer, by partition? One row per partition, client and group: lag of the fetch position in
-- records, first, last and greatest in the capture, and beside it the last position that the group committed, with its lag
-- behind the newest end that anybody was told. `is_newest` false: another client of the group has read it since.
-- A read_committed consumer's end is the last stable offset. `below`: replies whose end lay before the position (0 lag).
-- Rows without a known position or end have null lags; `partial`: the fetch session began before the capture.
WITH commits AS (
    SELECT x.exchange, x.connection, x.group_id, x.request_time_ns
    FROM all_exchanges AS x
    WHERE x.api_key = api('OffsetCommit')
    UNION ALL
    -- What a transaction commits counts when the transaction does.
    SELECT x.exchange, x.connection, x.group_id, x.request_time_ns
    FROM all_exchanges AS x JOIN transactions_seen AS t ON t.transactional_id = x.transactional_id
    WHERE x.api_key = api('TxnOffsetCommit') AND t.outcome = 'committed' AND x.request_time_ns >= t.begin_ns
        AND x.request_time_ns <= t.end_ns
),
committed AS (
    SELECT
        coalesce(c.cluster, '') AS cluster,
        x.group_id,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        max_by(e.offset, x.request_time_ns) AS committed_offset,
        max(x.request_time_ns) AS committed_time_ns,
        count(*) AS commits
    FROM commits AS x
        JOIN all_entries AS e ON e.exchange = x.exchange AND e.side = 'request'
        JOIN all_connections AS c ON c.connection = x.connection
        -- A commit counts when the reply says so for this partition.
        JOIN all_entries AS a
            ON a.exchange = e.exchange AND a.side = 'response' AND a.error_code = error('NONE') AND a.partition = e.partition
            AND coalesce(a.topic, a.topic_id) = coalesce(e.topic, e.topic_id)
    WHERE e.offset >= 0
    GROUP BY coalesce(c.cluster, ''), x.group_id, coalesce(e.topic, e.topic_id), e.partition
)
SELECT
    p.cluster,
    p.topic,
    p.partition,
    p.group_id,
    p.ambiguous,
    p.client_address,
    p.client_id,
    p.isolation,
    p.last_position AS position,
    p.last_end AS end_offset,
    p.first_lag,
    p.last_lag AS lag,
    p.is_newest,
    p.max_lag,
    k.committed_offset,
    CASE WHEN p.newest_end > k.committed_offset THEN p.newest_end - k.committed_offset
        WHEN p.newest_end <= k.committed_offset THEN 0 END AS committed_lag,
    k.committed_time_ns,
    k.commits,
    p.below,
    p.partial,
    p.first_time_ns,
    p.last_time_ns
FROM partition_readers AS p
    LEFT JOIN committed AS k
        ON k.cluster = coalesce(p.cluster, '') AND k.group_id = p.group_id AND k.topic = p.topic
        AND k.partition = p.partition
WHERE p.way = 'fetch' AND p.topic IS NOT NULL
ORDER BY p.last_lag IS NULL, p.last_lag DESC, p.topic, p.partition, p.group_id, p.client_id, p.client_address, p.cluster
