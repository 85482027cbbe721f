-- What did groups commit? Sums by connection, group and partition: the last offset that a reply did not refuse (`committed_offset`), when
-- it was committed, and how many commits there were, until the filters end. What a transaction commits counts when the transaction does.
WITH commits AS (
    SELECT x.exchange, x.connection, x.client_address, x.client_id, x.group_id, x.request_time_ns
    FROM all_exchanges AS x
    WHERE x.api_key = api('OffsetCommit') AND x.response_decoded = 'full' AND x.request_time_ns <= (SELECT last_time_ns FROM time_range)
    UNION ALL
    SELECT x.exchange, x.connection, x.client_address, x.client_id, x.group_id, x.request_time_ns
    FROM all_exchanges AS x JOIN transactions_seen AS t ON t.transactional_id = x.transactional_id
    WHERE x.api_key = api('TxnOffsetCommit') AND x.response_decoded = 'full' AND t.outcome = 'committed'
        AND x.request_time_ns >= t.begin_ns AND x.request_time_ns <= t.end_ns
        AND x.request_time_ns <= (SELECT last_time_ns FROM time_range)
),
refused AS (
    SELECT DISTINCT r.exchange, coalesce(r.topic, r.topic_id) AS topic, r.partition
    FROM all_errors AS r JOIN commits AS x ON x.exchange = r.exchange
),
-- Each commit has many partitions: names that all of a connection share are joined when they are summed.
speakers AS (
    SELECT connection, client_address, client_id, group_id, row_number() OVER () AS speaker
    FROM (SELECT DISTINCT connection, client_address, client_id, group_id FROM commits) AS x
),
spoken AS (
    SELECT x.exchange, x.request_time_ns, s.speaker
    FROM commits AS x
        JOIN speakers AS s
            ON s.connection = x.connection AND s.group_id = x.group_id AND s.client_address = x.client_address
            AND s.client_id IS NOT DISTINCT FROM x.client_id
),
summed AS (
    SELECT
        x.speaker,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        max_by(e.offset, x.request_time_ns) AS committed_offset,
        max_by(x.exchange, x.request_time_ns) AS exchange,
        max(x.request_time_ns) AS committed_time_ns,
        count(*) AS commits
    FROM all_entries AS e
        JOIN spoken AS x ON x.exchange = e.exchange
        LEFT JOIN refused AS r
            ON r.exchange = e.exchange AND r.topic = coalesce(e.topic, e.topic_id) AND r.partition = e.partition
    WHERE e.side = 'request' AND e.offset >= 0 AND r.exchange IS NULL
    GROUP BY x.speaker, coalesce(e.topic, e.topic_id), e.partition
)
SELECT s.connection, s.client_address, s.client_id, s.group_id, k.* EXCLUDE (speaker)
FROM summed AS k JOIN speakers AS s ON s.speaker = k.speaker
