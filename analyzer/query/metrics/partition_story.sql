-- What happened to each partition, in the order of time? One row per event: `produced` (a batch that a Produce request carries, or the
-- request where no batch of it was readable), `fetched` (a Fetch that names the partition), `delivered` (a batch that its reply carries),
-- `requested` (another request that names it), `transaction` (a producer id given, or the end of a transaction with batches of the
-- partition), `assigned` (to a member of a group). `entries`: rows of the table entries that the row contains. `time_ns`: when a batch
-- left, a reply came, or else a request left. `marks`: what is odd or new, with commas: repeat (sent before), resent (sent before under
-- an older epoch), reordered (it comes behind a batch that its connection sent later), sequence_gap, sequence_unknown (bytes are not
-- captured), epoch_bump (`bump_error`: the last error before, of any partition), old_epoch, offsets_missing (no batch seen has them),
-- offsets_again (given before), end_back, leader_moved, leader_epoch.
WITH seen_events AS (
    SELECT * FROM partition_events
),
-- Copies of a batch: by producer id, epoch and first sequence; without a producer id by checksum, where an earlier one failed.
copies AS (
    SELECT
        *,
        CASE WHEN producer_id >= 0 AND base_sequence >= 0
            THEN first_value(exchange) OVER (
                PARTITION BY cluster, name, partition, producer_id, producer_epoch, base_sequence
                ORDER BY time_ns, exchange, place)
        END AS first_copy,
        CASE WHEN producer_id >= 0 AND base_sequence >= 0
            THEN row_number() OVER (
                PARTITION BY cluster, name, partition, producer_id, producer_epoch, base_sequence
                ORDER BY time_ns, exchange, place)
        END AS turn
    FROM seen_events
    WHERE event = 'produced' AND bytes IS NOT NULL AND records IS NOT NULL
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
-- Offsets that no batch seen has: each range once, in the order of the log.
ranges AS (
    SELECT
        cluster,
        name,
        partition,
        first_offset,
        max(last_offset) AS last_offset,
        bool_or(transactional) AS transactional,
        min_by(exchange, (time_ns, exchange, place)) AS exchange,
        min_by(place, (time_ns, exchange, place)) AS place,
        min_by(event, (time_ns, exchange, place)) AS event
    FROM seen_events
    WHERE event IN ('produced', 'delivered') AND first_offset IS NOT NULL AND last_offset IS NOT NULL
    GROUP BY cluster, name, partition, first_offset
),
holes AS (
    SELECT
        exchange,
        name,
        partition,
        place,
        event,
        first_offset - 1 - max(last_offset) OVER log AS missing_offsets,
        lag(transactional) OVER (PARTITION BY cluster, name, partition ORDER BY first_offset) AS after_transactional
    FROM ranges
    WINDOW log AS (
        PARTITION BY cluster, name, partition ORDER BY first_offset ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
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
moved_back AS (
    SELECT exchange, name, partition, end_before FROM ends WHERE high_watermark < end_before
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
writers AS (
    SELECT cluster, name, partition, producer_id, time_ns FROM copies WHERE producer_id >= 0
),
-- A transaction has batches of the partition when its producer sent one since the end before.
turns AS (
    SELECT
        t.*,
        lag(t.begin_ns) OVER (PARTITION BY t.cluster, t.producer_id, t.event ORDER BY t.begin_ns, t.exchange) AS before_ns
    FROM transaction_events AS t
    WHERE t.event IN ('init', 'end') AND t.producer_id >= 0
),
ends_of_transactions AS (
    SELECT t.*, w.name, w.partition AS of_partition
    FROM turns AS t
        JOIN writers AS w ON w.producer_id = t.producer_id AND w.cluster IS NOT DISTINCT FROM t.cluster
    WHERE t.event = 'init' OR (w.time_ns <= t.begin_ns AND w.time_ns >= coalesce(t.before_ns, 0))
    QUALIFY row_number() OVER (PARTITION BY t.exchange, w.name, w.partition ORDER BY w.time_ns) = 1
),
given_out AS (
    SELECT a.*, coalesce(a.topic, a.topic_id) AS name
    FROM assignments AS a CROSS JOIN settings AS s
    WHERE (s.story_topic IS NULL OR a.topic = s.story_topic OR a.topic_id = s.story_topic) AND (s.story_partition IS NULL OR a.partition = s.story_partition)
),
-- The group of a client that reads, where it is of one.
groups_of AS (
    SELECT cluster, client_id, client_address, min(group_id) AS group_id
    FROM (
        SELECT cluster, client_id, client_address, group_id FROM given_out
        UNION
        SELECT cluster, client_id, client_address, group_id FROM seen_events WHERE group_id IS NOT NULL
    ) AS g
    WHERE group_id IS NOT NULL
    GROUP BY cluster, client_id, client_address
    HAVING count(DISTINCT group_id) = 1
),
marked AS (
    SELECT
        e.* EXCLUDE (group_id),
        coalesce(e.group_id, CASE WHEN e.event IN ('fetched', 'delivered') THEN g.group_id END) AS group_id,
        nullif(concat_ws(
            ',',
            CASE WHEN k.turn > 1 OR (a.original IS NOT NULL AND NOT a.other_epoch) THEN 'repeat' END,
            CASE WHEN a.other_epoch THEN 'resent' END,
            CASE WHEN r.exchange IS NOT NULL THEN 'reordered' END,
            CASE WHEN q.base_sequence <> q.expected_sequence AND NOT q.unsure THEN 'sequence_gap' END,
            CASE WHEN q.base_sequence <> q.expected_sequence AND q.unsure THEN 'sequence_unknown' END,
            CASE WHEN u.exchange IS NOT NULL THEN 'epoch_bump' END,
            CASE WHEN q.producer_epoch < q.epoch_before THEN 'old_epoch' END,
            CASE WHEN h.missing_offsets > CASE WHEN h.after_transactional THEN 1 ELSE 0 END THEN 'offsets_missing' END,
            CASE WHEN v.is_again THEN 'offsets_again' END,
            CASE WHEN m.end_before IS NOT NULL THEN 'end_back' END,
            CASE WHEN l.broker_id <> l.leader_before THEN 'leader_moved' END,
            CASE WHEN p.leader_epoch > p.leader_epoch_before THEN 'leader_epoch' END
        ), '') AS marks,
        coalesce(a.original, CASE WHEN k.turn > 1 THEN k.first_copy END) AS copy_of,
        CASE WHEN q.base_sequence <> q.expected_sequence THEN q.expected_sequence END AS expected_sequence,
        CASE WHEN q.producer_epoch < q.epoch_before THEN q.epoch_before ELSE u.epoch_before END AS epoch_before,
        w.last_error,
        CASE WHEN h.missing_offsets > CASE WHEN h.after_transactional THEN 1 ELSE 0 END THEN h.missing_offsets END AS missing_offsets,
        m.end_before,
        CASE WHEN l.broker_id <> l.leader_before THEN l.leader_before END AS leader_before,
        CASE WHEN p.leader_epoch > p.leader_epoch_before THEN p.leader_epoch_before END AS leader_epoch_before
    FROM seen_events AS e
        LEFT JOIN copies AS k
            ON k.exchange = e.exchange AND k.name = e.name AND k.partition = e.partition AND k.place = e.place AND e.event = 'produced'
        LEFT JOIN again AS a
            ON a.exchange = e.exchange AND a.name = e.name AND a.partition = e.partition AND a.place = e.place AND e.event = 'produced'
        LEFT JOIN reordered AS r
            ON r.exchange = e.exchange AND r.name = e.name AND r.partition = e.partition AND r.place = e.place AND e.event = 'produced'
        LEFT JOIN sequences AS q
            ON q.exchange = e.exchange AND q.name = e.name AND q.partition = e.partition AND q.place = e.place AND e.event = 'produced'
        LEFT JOIN bumps AS u
            ON u.exchange = e.exchange AND u.name = e.name AND u.partition = e.partition AND u.place = e.place AND e.event = 'produced'
        LEFT JOIN blamed AS w
            ON w.exchange = e.exchange AND w.name = e.name AND w.partition = e.partition AND w.place = e.place AND e.event = 'produced'
        LEFT JOIN holes AS h
            ON h.exchange = e.exchange AND h.name = e.name AND h.partition = e.partition AND h.place = e.place AND h.event = e.event
        LEFT JOIN given AS v
            ON v.exchange = e.exchange AND v.name = e.name AND v.partition = e.partition AND v.place = e.place AND e.event = 'produced'
        LEFT JOIN moved_back AS m
            ON m.exchange = e.exchange AND m.name = e.name AND m.partition = e.partition AND e.event = 'fetched'
        LEFT JOIN leaders AS l
            ON l.exchange = e.exchange AND l.name = e.name AND l.partition = e.partition AND l.place = e.place AND l.event = e.event
        LEFT JOIN epochs AS p
            ON p.exchange = e.exchange AND p.name = e.name AND p.partition = e.partition AND p.place = e.place AND p.event = e.event
        LEFT JOIN groups_of AS g
            ON g.client_address = e.client_address AND g.client_id IS NOT DISTINCT FROM e.client_id
            AND g.cluster IS NOT DISTINCT FROM e.cluster
),
story AS (
    SELECT * FROM marked
    UNION ALL BY NAME
    SELECT
        'transaction' AS event, t.exchange, t.name, t.of_partition AS partition, 0 AS entries, 0 AS place, t.error_code, t.producer_id,
        coalesce(t.new_producer_epoch, t.producer_epoch) AS producer_epoch, t.connection, t.cluster, t.client_id, t.transactional_id,
        t.committed, t.time_ns
    FROM ends_of_transactions AS t
    UNION ALL BY NAME
    SELECT
        'assigned' AS event, a.exchange, a.name, a.partition, a.topic_id, 0 AS entries, 0 AS place, a.connection, a.cluster, a.client_id,
        a.client_address, a.group_id, a.member_id, a.generation, a.time_ns
    FROM given_out AS a
)
SELECT
    e.cluster, e.name AS topic, e.topic_id, e.partition, e.time_ns, e.event, x.api_name, x.api_version, e.client_id,
    coalesce(e.client_address, x.client_address) AS client_address, x.broker_id, x.broker_address, x.broker_port, x.status, e.error_code,
    r.is_expected AS error_expected, x.latency_ns, e.group_id, e.member_id, e.generation, e.transactional_id, e.producer_id, e.producer_epoch, e.base_sequence,
    e.transactional, e.control_type, e.committed, e.batches, e.records, e.bytes, e.asked_offset, e.first_offset, e.last_offset,
    e.high_watermark, e.last_stable_offset, e.log_start_offset, e.leader_epoch, e.timestamp_ms, e.preferred_read_replica, e.marks,
    e.copy_of AS original_exchange, e.expected_sequence, e.epoch_before, e.last_error.code AS bump_error,
    e.last_error.topic AS bump_topic, e.last_error.number AS bump_partition, e.last_error.exchange AS bump_exchange,
    e.missing_offsets, e.end_before, e.leader_before,
    e.leader_epoch_before, e.entries, e.exchange, e.connection, x.request_packet, x.response_packet, f.path
FROM story AS e
    JOIN exchanges AS x ON x.exchange = e.exchange
    LEFT JOIN (
        SELECT exchange, code, bool_and(coalesce(expected, false)) AS is_expected FROM errors WHERE side = 'response' GROUP BY exchange, code
    ) AS r ON r.exchange = e.exchange AND r.code = e.error_code
    LEFT JOIN captures AS f ON f.file = coalesce(x.request_file, x.response_file)
ORDER BY e.cluster, e.name, e.partition, e.time_ns, e.event <> 'produced', e.exchange, e.place
