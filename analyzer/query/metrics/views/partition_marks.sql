-- What is odd or new about events of partitions (`partition_events`; `settings`): one row per event that has a mark, with what
-- `partition_story` says of its marks. Most events have none, so these rows are few, and the story joins them last.
WITH seen_events AS (
    SELECT
        event, exchange, name, partition, cluster, place, time_ns, connection, status, error_code, client_address, client_id, broker_id,
        api_key, replica_id, rack_id, unsure, request_time_ns, response_time_ns, response_file, first_offset, last_offset,
        high_watermark, leader_epoch, records, bytes, producer_id, producer_epoch, base_sequence, sequences, transactional,
        first_timestamp_ms, max_timestamp_ms, crc
    FROM partition_events
),
-- Copies of a batch: by producer id, epoch and first sequence; without a producer id by checksum, where an earlier one failed.
copies AS (
    SELECT
        *,
        CASE WHEN producer_id >= 0 AND base_sequence >= 0 THEN first_value(exchange) OVER same END AS first_copy,
        CASE WHEN producer_id >= 0 AND base_sequence >= 0 THEN row_number() OVER same END AS turn
    FROM seen_events
    WHERE event = 'produced' AND bytes IS NOT NULL AND records IS NOT NULL
    WINDOW same AS (
        PARTITION BY cluster, name, partition, producer_id, producer_epoch, base_sequence ORDER BY time_ns, exchange, place
    )
),
failed AS (
    SELECT * FROM copies
    WHERE first_offset IS NULL AND (error_code <> error('NONE') OR status NOT IN ('answered', 'no_reply_expected', 'orphan_reply'))
),
-- The same records again after a failure: without a producer id, or under a newer epoch.
again AS (
    SELECT
        r.exchange,
        r.name,
        r.partition,
        r.place,
        bool_or(coalesce(f.producer_id, -1) >= 0) AS other_epoch,
        min_by(f.exchange, (f.time_ns, f.exchange, f.place)) AS original
    FROM copies AS r
        JOIN failed AS f
            ON f.name = r.name AND f.partition = r.partition AND f.cluster IS NOT DISTINCT FROM r.cluster
            AND f.client_address = r.client_address AND f.client_id IS NOT DISTINCT FROM r.client_id AND f.bytes = r.bytes
            AND f.records = r.records AND f.first_timestamp_ms = r.first_timestamp_ms AND f.max_timestamp_ms = r.max_timestamp_ms
    WHERE f.time_ns < r.time_ns
        AND CASE WHEN coalesce(f.producer_id, -1) < 0 THEN coalesce(r.producer_id, -1) < 0 AND f.crc = r.crc
            ELSE r.producer_id = f.producer_id AND r.producer_epoch > f.producer_epoch END
    GROUP BY r.exchange, r.name, r.partition, r.place
),
originals AS (
    SELECT exchange, name, partition, place, original FROM again
    UNION
    SELECT exchange, name, partition, place, first_copy FROM copies WHERE turn > 1
),
-- What the connection of the original sent after it, and what is before the copy in the log.
reordered AS (
    SELECT DISTINCT o.exchange, o.name, o.partition, o.place
    FROM originals AS o
        JOIN copies AS r
            ON r.exchange = o.exchange AND r.name = o.name AND r.partition = o.partition AND r.place = o.place
        JOIN copies AS f ON f.exchange = o.original AND f.name = o.name AND f.partition = o.partition
        JOIN copies AS b
            ON b.connection = f.connection AND b.name = f.name AND b.partition = f.partition AND b.time_ns > f.time_ns
            AND b.time_ns < r.time_ns AND b.first_offset < r.first_offset AND b.exchange <> f.exchange
            AND b.producer_id IS NOT DISTINCT FROM f.producer_id
),
sequences AS (
    SELECT
        exchange,
        cluster,
        name,
        partition,
        place,
        time_ns,
        base_sequence,
        unsure,
        producer_id,
        producer_epoch,
        lag((base_sequence + sequences) % two_to(31)) OVER (
            PARTITION BY cluster, name, partition, producer_id, producer_epoch ORDER BY time_ns, exchange, place
        ) AS expected_sequence,
        max(producer_epoch) OVER (
            PARTITION BY cluster, name, partition, producer_id ORDER BY time_ns, exchange, place
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS epoch_before
    FROM copies
    WHERE turn = 1
),
-- A bump that no transaction's end gave (as each does from Kafka 4.0 on), and the last error of the producer before, of any partition.
bumps AS (
    SELECT q.*
    FROM sequences AS q
    WHERE q.producer_epoch > q.epoch_before AND NOT EXISTS (
        SELECT 1 FROM transaction_events AS t
        WHERE t.event = 'end' AND t.producer_id = q.producer_id AND t.new_producer_epoch = q.producer_epoch
    )
),
blamed AS (
    SELECT
        q.exchange,
        q.name,
        q.partition,
        q.place,
        max_by(
            struct_pack(
                code := r.code, topic := coalesce(r.topic, r.topic_id), number := r.partition, exchange := r.exchange
            ), (x.response_time_ns, r.exchange, r.partition)
        ) AS last_error
    FROM bumps AS q
        JOIN batches AS b ON b.producer_id = q.producer_id AND b.producer_epoch < q.producer_epoch AND b.side = 'request'
        JOIN connections AS c ON c.connection = b.connection AND c.cluster IS NOT DISTINCT FROM q.cluster
        JOIN exchanges AS x ON x.exchange = b.exchange AND x.response_time_ns <= q.time_ns
        JOIN errors AS r
            ON r.exchange = b.exchange AND r.side = 'response' AND r.partition = b.partition
            AND coalesce(r.topic, r.topic_id) = coalesce(b.topic, b.topic_id)
    GROUP BY q.exchange, q.name, q.partition, q.place
),
-- Offsets that no batch seen has: each range once, in the order of the log. The first of its batches has the mark.
ranges AS (
    SELECT
        cluster,
        name,
        partition,
        first_offset,
        max(last_offset) AS last_offset,
        bool_or(transactional) AS transactional
    FROM seen_events
    WHERE event IN ('produced', 'delivered') AND first_offset IS NOT NULL AND last_offset IS NOT NULL
    GROUP BY cluster, name, partition, first_offset
),
behind AS (
    SELECT
        *,
        first_offset - 1 - max(last_offset) OVER (log ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS missing_offsets,
        lag(transactional) OVER log AS after_transactional
    FROM ranges
    WINDOW log AS (PARTITION BY cluster, name, partition ORDER BY first_offset)
),
holes AS (
    SELECT
        e.name,
        e.partition,
        h.missing_offsets,
        min_by(struct_pack(exchange := e.exchange, place := e.place, event := e.event), (e.time_ns, e.exchange, e.place)) AS first
    FROM behind AS h
        JOIN seen_events AS e
            ON e.first_offset = h.first_offset AND e.name = h.name AND e.partition = h.partition
            AND e.cluster IS NOT DISTINCT FROM h.cluster
    WHERE h.missing_offsets > CASE WHEN h.after_transactional THEN 1 ELSE 0 END
        AND e.event IN ('produced', 'delivered') AND e.last_offset IS NOT NULL
    GROUP BY e.cluster, e.name, e.partition, h.first_offset, h.missing_offsets
),
-- Offsets that two batches got which are no copies of each other.
given AS (
    SELECT
        exchange,
        name,
        partition,
        place,
        max(last_offset) OVER (
            PARTITION BY cluster, name, partition ORDER BY first_offset, time_ns, exchange, place
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) >= first_offset AS is_again
    FROM copies
    WHERE first_offset IS NOT NULL AND last_offset IS NOT NULL AND coalesce(turn, 1) = 1
),
-- A reply to a request that was sent after another reply had come knows no less than that one.
ends AS (
    SELECT
        exchange,
        name,
        partition,
        high_watermark,
        max(high_watermark) OVER (
            PARTITION BY cluster, name, partition, response_file ORDER BY response_time_ns
            RANGE BETWEEN UNBOUNDED PRECEDING AND (response_time_ns - request_time_ns) PRECEDING
        ) AS end_before
    FROM seen_events
    WHERE event = 'fetched' AND high_watermark IS NOT NULL AND no_error(error_code) AND response_time_ns >= request_time_ns
        AND (replica_id >= 0 OR coalesce(rack_id, '') = '')
),
-- What only a leader answers says who it is.
leaders AS (
    SELECT
        exchange,
        name,
        partition,
        event,
        place,
        broker_id,
        lag(broker_id) OVER (PARTITION BY cluster, name, partition ORDER BY response_time_ns, exchange, place) AS leader_before
    FROM seen_events
    WHERE broker_id IS NOT NULL AND error_code = error('NONE') AND response_time_ns IS NOT NULL
        AND (
            (event = 'produced' AND first_offset IS NOT NULL)
            OR api_key IN (api('ListOffsets', 'OffsetForLeaderEpoch'))
            OR (event = 'fetched' AND high_watermark IS NOT NULL AND (replica_id >= 0 OR coalesce(rack_id, '') = ''))
        )
),
epochs AS (
    SELECT
        exchange,
        name,
        partition,
        event,
        place,
        leader_epoch,
        max(leader_epoch) OVER (
            PARTITION BY cluster, name, partition ORDER BY time_ns, exchange, place
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS leader_epoch_before
    FROM seen_events
    WHERE leader_epoch IS NOT NULL AND no_error(error_code)
),
odd AS (
    SELECT exchange, name, partition, place, event, 1 AS rank, 'repeat' AS mark, first_copy AS copy_of FROM copies WHERE turn > 1
    UNION ALL BY NAME
    SELECT
        exchange, name, partition, place, 'produced' AS event, CASE WHEN other_epoch THEN 2 ELSE 1 END AS rank,
        CASE WHEN other_epoch THEN 'resent' ELSE 'repeat' END AS mark, original AS copy_of
    FROM again
    UNION ALL BY NAME
    SELECT exchange, name, partition, place, 'produced' AS event, 3 AS rank, 'reordered' AS mark FROM reordered
    UNION ALL BY NAME
    SELECT
        exchange, name, partition, place, 'produced' AS event, 4 AS rank,
        CASE WHEN unsure THEN 'sequence_unknown' ELSE 'sequence_gap' END AS mark, expected_sequence
    FROM sequences
    WHERE base_sequence <> expected_sequence
    UNION ALL BY NAME
    SELECT
        u.exchange, u.name, u.partition, u.place, 'produced' AS event, 6 AS rank, 'epoch_bump' AS mark, u.epoch_before,
        w.last_error.code AS bump_error, w.last_error.topic AS bump_topic, w.last_error.number AS bump_partition,
        w.last_error.exchange AS bump_exchange
    FROM bumps AS u
        LEFT JOIN blamed AS w ON w.exchange = u.exchange AND w.name = u.name AND w.partition = u.partition AND w.place = u.place
    UNION ALL BY NAME
    SELECT exchange, name, partition, place, 'produced' AS event, 7 AS rank, 'old_epoch' AS mark, epoch_before
    FROM sequences
    WHERE producer_epoch < epoch_before
    UNION ALL BY NAME
    SELECT
        first.exchange AS exchange, name, partition, first.place AS place, first.event AS event, 8 AS rank, 'offsets_missing' AS mark,
        missing_offsets
    FROM holes
    UNION ALL BY NAME
    SELECT exchange, name, partition, place, 'produced' AS event, 9 AS rank, 'offsets_again' AS mark FROM given WHERE is_again
    UNION ALL BY NAME
    SELECT exchange, name, partition, 0 AS place, 'fetched' AS event, 10 AS rank, 'end_back' AS mark, end_before
    FROM ends
    WHERE high_watermark < end_before
    UNION ALL BY NAME
    SELECT exchange, name, partition, place, event, 11 AS rank, 'leader_moved' AS mark, leader_before
    FROM leaders
    WHERE broker_id <> leader_before
    UNION ALL BY NAME
    SELECT exchange, name, partition, place, event, 12 AS rank, 'leader_epoch' AS mark, leader_epoch_before
    FROM epochs
    WHERE leader_epoch > leader_epoch_before
)
SELECT
    exchange,
    name,
    partition,
    place,
    event,
    string_agg(mark, ',' ORDER BY rank) AS marks,
    max_by(copy_of, rank) FILTER (WHERE copy_of IS NOT NULL) AS copy_of,
    max(expected_sequence) AS expected_sequence,
    max(epoch_before) AS epoch_before,
    max(bump_error) AS bump_error,
    max(bump_topic) AS bump_topic,
    max(bump_partition) AS bump_partition,
    max(bump_exchange) AS bump_exchange,
    max(missing_offsets) AS missing_offsets,
    max(end_before) AS end_before,
    max(leader_before) AS leader_before,
    max(leader_epoch_before) AS leader_epoch_before
FROM odd
GROUP BY exchange, name, partition, place, event
