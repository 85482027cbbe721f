-- What do idempotent producers send, again or with holes? One row per producer id. `duplicates`: batches whose producer id,
-- epoch, partition and first sequence were sent before, on any connection. `gaps`: batches that do not follow the one before
-- in their partition; null when the capture has lost bytes of such a connection or could not read all of it. `fenced`,
-- `out_of_order` and `duplicate_replies` count reply codes 47 or 90, 45 and 46 of its Produce requests.
WITH sent AS (
    SELECT
        coalesce(c.cluster, '') AS cluster,
        b.producer_id,
        b.producer_epoch,
        coalesce(b.topic, b.topic_id) AS topic,
        b.partition,
        b.base_sequence,
        CASE WHEN b.last_offset >= b.base_offset THEN b.last_offset - b.base_offset + 1 END AS sequences,
        b.records,
        b.position,
        b.bytes,
        b.exchange,
        x.request_time_ns AS time_ns,
        x.client_address,
        x.client_id,
        x.transactional_id,
        coalesce(c.client_gaps, 0) > 0 OR x.request_decoded <> 'full' AS unsure,
        row_number() OVER (
            PARTITION BY
                coalesce(c.cluster, ''), b.producer_id, b.producer_epoch, coalesce(b.topic, b.topic_id), b.partition, b.base_sequence
            ORDER BY x.request_time_ns, b.exchange, b.position
        ) AS turn
    FROM batches AS b
        JOIN exchanges AS x ON x.exchange = b.exchange
        JOIN connections AS c ON c.connection = b.connection
    WHERE b.side = 'request' AND b.producer_id >= 0 AND b.base_sequence >= 0 AND is_client(x.role)
),
-- In the order of their first sending; the sequence after 2^31 - 1 is 0.
followed AS (
    SELECT
        *,
        lag((base_sequence + sequences) % two_to(31)) OVER (
            PARTITION BY cluster, producer_id, producer_epoch, topic, partition ORDER BY time_ns, exchange, position
        ) AS expected
    FROM sent
    WHERE turn = 1
),
holes AS (
    SELECT cluster, producer_id, count(*) FILTER (WHERE base_sequence <> expected) AS gaps
    FROM followed
    GROUP BY cluster, producer_id
),
refused AS (
    SELECT
        s.cluster,
        s.producer_id,
        count(*) FILTER (WHERE e.code IN (error('INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED'))) AS fenced,
        count(*) FILTER (WHERE e.code = error('OUT_OF_ORDER_SEQUENCE_NUMBER')) AS out_of_order,
        count(*) FILTER (WHERE e.code = error('DUPLICATE_SEQUENCE_NUMBER')) AS duplicate_replies
    FROM (SELECT cluster, producer_id, exchange FROM sent GROUP BY cluster, producer_id, exchange) AS s
        JOIN errors AS e ON e.exchange = s.exchange
    GROUP BY s.cluster, s.producer_id
),
names AS (
    SELECT coalesce(cluster, '') AS cluster, producer_id, max(transactional_id) AS transactional_id
    FROM all_transaction_events
    WHERE producer_id >= 0
    GROUP BY coalesce(cluster, ''), producer_id
)
SELECT
    nullif(s.cluster, '') AS cluster,
    s.producer_id,
    coalesce(max(s.transactional_id), max(n.transactional_id)) AS transactional_id,
    max_by(s.client_id, s.time_ns) FILTER (WHERE s.client_id IS NOT NULL) AS client_id,
    max_by(s.client_address, s.time_ns) AS client_address,
    count(DISTINCT concat(s.topic, '|', s.partition)) AS partitions,
    min(s.producer_epoch) AS first_epoch,
    max(s.producer_epoch) AS last_epoch,
    count(*) AS batches,
    CAST(sum(s.records) AS BIGINT) AS records,
    CAST(sum(s.bytes) AS BIGINT) AS bytes,
    count(*) FILTER (WHERE s.turn > 1) AS duplicates,
    CASE WHEN NOT bool_or(s.unsure) THEN max(h.gaps) END AS gaps,
    coalesce(max(r.fenced), 0) AS fenced,
    coalesce(max(r.out_of_order), 0) AS out_of_order,
    coalesce(max(r.duplicate_replies), 0) AS duplicate_replies,
    min(s.time_ns) AS first_time_ns,
    max(s.time_ns) AS last_time_ns,
    min_by(s.exchange, (s.time_ns, s.exchange)) AS example_exchange
FROM sent AS s
    JOIN holes AS h ON h.cluster = s.cluster AND h.producer_id = s.producer_id
    LEFT JOIN refused AS r ON r.cluster = s.cluster AND r.producer_id = s.producer_id
    LEFT JOIN names AS n ON n.cluster = s.cluster AND n.producer_id = s.producer_id
GROUP BY s.cluster, s.producer_id
ORDER BY duplicates DESC, batches DESC, s.producer_id, s.cluster
