-- How do transactions go, by transactional id? `begun` = committed + aborted + taken_over + open. Lengths in ns of those that
-- ended, `longest_open_ns` to the capture's end. `fenced`: replies with INVALID_PRODUCER_EPOCH or PRODUCER_FENCED; `failures`:
-- all error replies but coordinator moves, CONCURRENT_TRANSACTIONS and fencing. Null: not seen, or messages of the producer could
-- not be read.
WITH ids AS (
    SELECT
        coalesce(c.cluster, '') AS cluster,
        x.transactional_id,
        max_by(x.client_id, x.request_time_ns) FILTER (WHERE x.client_id IS NOT NULL) AS client_id,
        max_by(x.client_address, x.request_time_ns) AS client_address,
        count(DISTINCT concat(x.client_address, '|', coalesce(x.client_id, ''))) AS clients,
        count(*) FILTER (WHERE x.api_key = api('InitProducerId')) AS inits,
        count(*) FILTER (WHERE x.error_code IN (error('INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED'))) AS fenced,
        count(*) FILTER (WHERE x.error_code = error('CONCURRENT_TRANSACTIONS')) AS concurrent,
        count(*) FILTER (WHERE x.error_code NOT IN (error('NONE', 'COORDINATOR_LOAD_IN_PROGRESS',
            'COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR', 'DUPLICATE_SEQUENCE_NUMBER', 'INVALID_PRODUCER_EPOCH',
            'CONCURRENT_TRANSACTIONS', 'PRODUCER_FENCED'))) AS failures,
        max_by(x.error_code, x.request_time_ns)
            FILTER (WHERE x.error_code NOT IN (error('NONE', 'COORDINATOR_LOAD_IN_PROGRESS',
                'COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR', 'DUPLICATE_SEQUENCE_NUMBER',
                'CONCURRENT_TRANSACTIONS'))) AS last_error,
        min(x.request_time_ns) AS first_time_ns,
        max(x.request_time_ns) AS last_time_ns
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.transactional_id IS NOT NULL AND x.api_key IN (api('Produce', 'InitProducerId', 'AddPartitionsToTxn',
        'AddOffsetsToTxn', 'EndTxn', 'TxnOffsetCommit'))
        AND is_client(x.role) AND x.status <> 'orphan_reply'
    GROUP BY coalesce(c.cluster, ''), x.transactional_id
),
made AS (
    SELECT
        s.cluster,
        s.transactional_id,
        count(*) AS begun,
        count(*) FILTER (WHERE s.outcome = 'committed') AS committed,
        count(*) FILTER (WHERE s.outcome = 'aborted') AS aborted,
        count(*) FILTER (WHERE s.outcome = 'taken_over') AS taken_over,
        count(*) FILTER (WHERE s.outcome = 'open') AS open_at_end,
        CAST(round(percentile_cont(0.5) WITHIN GROUP (ORDER BY s.length_ns)) AS BIGINT) AS p50_length_ns,
        max(s.length_ns) AS max_length_ns,
        max_by(s.begin_exchange, s.length_ns) AS longest_exchange,
        max_by(s.client_id, s.begin_ns) FILTER (WHERE s.client_id IS NOT NULL) AS client_id,
        max_by(s.client_address, s.begin_ns) AS client_address,
        max(r.last_time_ns - s.begin_ns) FILTER (WHERE s.outcome = 'open') AS longest_open_ns,
        CAST(sum(s.records) AS BIGINT) AS records,
        CAST(sum(s.bytes) AS BIGINT) AS bytes
    FROM transactions_seen AS s CROSS JOIN time_range AS r
    WHERE s.begin_ns <= r.last_time_ns AND coalesce(s.end_ns, r.last_time_ns) >= r.first_time_ns
    GROUP BY s.cluster, s.transactional_id
),
told AS (
    SELECT
        coalesce(cluster, '') AS cluster,
        transactional_id,
        count(DISTINCT producer_id) AS producer_ids,
        max_by(producer_id, time_ns) AS producer_id,
        max_by(coalesce(new_producer_epoch, producer_epoch), time_ns)
            FILTER (WHERE coalesce(new_producer_epoch, producer_epoch) IS NOT NULL) AS producer_epoch,
        max_by(transaction_timeout_ms, time_ns) FILTER (WHERE transaction_timeout_ms IS NOT NULL) AS transaction_timeout_ms
    FROM all_transaction_events
    WHERE transactional_id IS NOT NULL AND producer_id >= 0 AND no_error(error_code)
    GROUP BY coalesce(cluster, ''), transactional_id
),
-- Producers who may have said more than could be read: Produce, InitProducerId to EndTxn, TxnOffsetCommit.
unread AS (
    SELECT DISTINCT coalesce(c.cluster, '') AS cluster, x.transactional_id
    FROM exchanges AS x
        JOIN connections AS c ON c.connection = x.connection
        JOIN unread_clients AS u ON u.client_address = x.client_address AND coalesce(u.client_id, '') = coalesce(x.client_id, '')
    WHERE x.transactional_id IS NOT NULL AND (u.api_key IN (api('Produce', 'InitProducerId', 'TxnOffsetCommit'))
        OR u.api_key BETWEEN api('AddPartitionsToTxn') AND api('EndTxn'))
)
SELECT
    nullif(i.cluster, '') AS cluster,
    i.transactional_id,
    coalesce(m.client_id, i.client_id) AS client_id,
    coalesce(m.client_address, i.client_address) AS client_address,
    i.clients,
    CASE WHEN u.transactional_id IS NULL THEN coalesce(m.begun, 0) END AS begun,
    CASE WHEN u.transactional_id IS NULL THEN coalesce(m.committed, 0) END AS committed,
    CASE WHEN u.transactional_id IS NULL THEN coalesce(m.aborted, 0) END AS aborted,
    CASE WHEN u.transactional_id IS NULL THEN coalesce(m.taken_over, 0) END AS taken_over,
    CASE WHEN u.transactional_id IS NULL THEN coalesce(m.open_at_end, 0) END AS open_at_end,
    m.p50_length_ns,
    m.max_length_ns,
    m.longest_open_ns,
    m.records,
    m.bytes,
    i.inits,
    CASE WHEN u.transactional_id IS NULL OR i.fenced > 0 THEN i.fenced END AS fenced,
    CASE WHEN u.transactional_id IS NULL OR i.concurrent > 0 THEN i.concurrent END AS concurrent,
    CASE WHEN u.transactional_id IS NULL OR i.failures > 0 THEN i.failures END AS failures,
    i.last_error,
    t.producer_ids,
    t.producer_id,
    t.producer_epoch,
    t.transaction_timeout_ms,
    i.first_time_ns,
    i.last_time_ns,
    m.longest_exchange AS example_exchange
FROM ids AS i
    LEFT JOIN made AS m ON m.cluster = i.cluster AND m.transactional_id = i.transactional_id
    LEFT JOIN unread AS u ON u.cluster = i.cluster AND u.transactional_id = i.transactional_id
    LEFT JOIN told AS t ON t.cluster = i.cluster AND t.transactional_id = i.transactional_id
ORDER BY begun DESC, i.transactional_id, i.cluster
