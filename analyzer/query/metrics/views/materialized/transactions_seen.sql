-- Every transaction, from its first transactional Produce, AddPartitionsToTxn (v0-3), AddOffsetsToTxn or TxnOffsetCommit after
-- the last end, to the EndTxn reply. `outcome`: committed, aborted, taken_over (a new InitProducerId of the same transactional
-- id ended it) or open (the capture holds no end). `length_ns` of an open one is null. AddPartitionsToTxn from v4 on is traffic
-- between brokers; one that only verifies begins nothing.
WITH steps AS (
    SELECT
        coalesce(t.cluster, '') AS cluster,
        t.transactional_id,
        t.begin_ns,
        coalesce(t.time_ns, t.begin_ns) AS time_ns,
        t.exchange,
        t.client_id,
        x.client_address,
        t.producer_id,
        t.producer_epoch,
        CASE t.event WHEN 'end' THEN CASE WHEN t.committed THEN 'committed' ELSE 'aborted' END WHEN 'init' THEN 'taken_over' END
            AS ends_as
    FROM all_transaction_events AS t LEFT JOIN all_exchanges AS x ON x.exchange = t.exchange
    WHERE t.transactional_id IS NOT NULL AND no_error(t.error_code) AND t.event <> 'verify'
        AND NOT (t.event = 'add_partitions' AND coalesce(x.api_version, 0) >= 4)
    UNION ALL
    SELECT
        coalesce(c.cluster, ''), x.transactional_id, x.request_time_ns, coalesce(x.response_end_ns, x.request_time_ns), x.exchange,
        x.client_id, x.client_address, NULL, NULL, NULL
    FROM all_exchanges AS x JOIN all_connections AS c ON c.connection = x.connection
    WHERE x.api_key = api('Produce') AND x.transactional_id IS NOT NULL AND no_error(x.error_code)
        AND x.request_time_ns IS NOT NULL
),
numbered AS (
    SELECT
        *,
        coalesce(sum(CASE WHEN ends_as IS NULL THEN 0 ELSE 1 END) OVER (
            PARTITION BY cluster, transactional_id ORDER BY begin_ns, exchange
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), 0) AS number
    FROM steps
),
carried AS (
    SELECT
        n.cluster,
        n.transactional_id,
        n.number,
        CAST(sum(b.records) AS BIGINT) AS records,
        CAST(sum(b.bytes) AS BIGINT) AS bytes,
        count(DISTINCT concat(coalesce(b.topic, b.topic_id), '|', b.partition)) AS partitions
    FROM numbered AS n
        JOIN all_batches AS b ON b.exchange = n.exchange AND b.side = 'request'
    WHERE n.ends_as IS NULL
    GROUP BY n.cluster, n.transactional_id, n.number
),
found AS (
    SELECT
        cluster,
        transactional_id,
        number,
        min(begin_ns) FILTER (WHERE ends_as IS NULL) AS begin_ns,
        max(time_ns) FILTER (WHERE ends_as IS NOT NULL) AS end_ns,
        coalesce(max(ends_as), 'open') AS outcome,
        max(producer_id) AS producer_id,
        max(producer_epoch) FILTER (WHERE coalesce(ends_as, '') <> 'taken_over') AS producer_epoch,
        min_by(client_id, begin_ns) FILTER (WHERE ends_as IS NULL AND client_id IS NOT NULL) AS client_id,
        min_by(client_address, begin_ns) FILTER (WHERE ends_as IS NULL) AS client_address,
        min_by(exchange, (begin_ns, exchange)) FILTER (WHERE ends_as IS NULL) AS begin_exchange,
        max_by(exchange, (begin_ns, exchange)) FILTER (WHERE ends_as IS NOT NULL) AS end_exchange
    FROM numbered
    GROUP BY cluster, transactional_id, number
)
SELECT
    f.cluster, f.transactional_id, f.outcome, f.begin_ns, f.end_ns, f.end_ns - f.begin_ns AS length_ns, f.producer_id,
    f.producer_epoch, f.client_id, f.client_address, c.records, c.bytes, c.partitions, f.begin_exchange, f.end_exchange
FROM found AS f
    LEFT JOIN carried AS c
        ON c.cluster = f.cluster AND c.transactional_id = f.transactional_id AND c.number = f.number
WHERE f.begin_ns IS NOT NULL
