-- What happened to each partition, in the order of time? One row per event: `produced` (a batch that a Produce request carries, or the
-- request where no batch of it was readable), `fetched` (a Fetch that names the partition), `delivered` (a batch that its reply carries),
-- `requested` (another request that names it), `transaction` (a producer id given, or the end of a transaction with batches of the
-- partition), `assigned` (to a member of a group). `entries`: rows of the table entries that the row contains. `time_ns`: when a batch
-- left, a reply came, or else a request left. `marks`: what is odd or new, with commas: repeat (sent before), resent (sent before under
-- an older epoch), reordered (it comes behind a batch that its connection sent later), sequence_gap, sequence_unknown (bytes are not
-- captured), epoch_bump (`bump_error`: the last error before, of any partition), old_epoch, offsets_missing (no batch seen has them),
-- offsets_again (given before), end_back, leader_moved, leader_epoch. `isr`: brokers in sync, as a leader tells the controller.
WITH written AS (
    SELECT DISTINCT cluster, name, partition, producer_id, time_ns
    FROM partition_events
    WHERE event = 'produced' AND bytes IS NOT NULL AND records IS NOT NULL
        AND producer_id IN (SELECT producer_id FROM transaction_events WHERE event IN ('init', 'end') AND producer_id >= 0)
),
-- A batch is of the transaction of its producer that ends next.
ended AS (
    SELECT DISTINCT t.exchange, w.name, w.partition
    FROM written AS w
        ASOF JOIN (
            SELECT exchange, coalesce(cluster, '') AS cluster, producer_id, begin_ns FROM transaction_events WHERE event = 'end'
        ) AS t
            ON t.producer_id = w.producer_id AND t.cluster = coalesce(w.cluster, '') AND t.begin_ns >= w.time_ns
),
begun AS (
    SELECT DISTINCT t.exchange, w.name, w.partition
    FROM transaction_events AS t
        JOIN (SELECT DISTINCT cluster, name, partition, producer_id FROM written) AS w
            ON w.producer_id = t.producer_id AND w.cluster IS NOT DISTINCT FROM t.cluster
    WHERE t.event = 'init'
),
transactions AS (
    SELECT t.*, w.name, w.partition AS of_partition
    FROM transaction_events AS t
        JOIN (SELECT * FROM ended UNION ALL SELECT * FROM begun) AS w ON w.exchange = t.exchange
    WHERE t.event IN ('init', 'end') AND t.producer_id >= 0
),
given_out AS (
    SELECT a.*, coalesce(a.topic, a.topic_id) AS name
    FROM assignments AS a CROSS JOIN settings AS s
    WHERE (s.story_topic IS NULL OR a.topic = s.story_topic OR a.topic_id = s.story_topic)
        AND (s.story_partition IS NULL OR a.partition = s.story_partition)
),
-- The group of a client that reads, where it is of one.
groups_of AS (
    SELECT cluster, client_id, client_address, min(group_id) AS only_group
    FROM (
        SELECT cluster, client_id, client_address, group_id FROM given_out
        UNION
        SELECT cluster, client_id, client_address, group_id FROM partition_events WHERE event = 'requested' AND group_id IS NOT NULL
    ) AS g
    WHERE group_id IS NOT NULL
    GROUP BY cluster, client_id, client_address
    HAVING count(DISTINCT group_id) = 1
),
told AS (
    SELECT
        e.* EXCLUDE (group_id),
        coalesce(e.group_id, CASE WHEN e.event IN ('fetched', 'delivered') THEN g.only_group END) AS group_id,
        m.* EXCLUDE (exchange, name, partition, place, event)
    FROM partition_events AS e
        LEFT JOIN partition_marks AS m
            ON m.exchange = e.exchange AND m.name = e.name AND m.partition = e.partition AND m.place = e.place AND m.event = e.event
        LEFT JOIN groups_of AS g
            ON g.client_address = e.client_address AND g.client_id IS NOT DISTINCT FROM e.client_id
            AND g.cluster IS NOT DISTINCT FROM e.cluster
    UNION ALL BY NAME
    SELECT
        'transaction' AS event, t.exchange, t.name, t.of_partition AS partition, 0 AS entries, 0 AS place, t.error_code, t.producer_id,
        coalesce(t.new_producer_epoch, t.producer_epoch) AS producer_epoch, t.connection, t.cluster, t.client_id, t.transactional_id,
        t.committed, t.time_ns, x.client_address, x.api_name, x.api_version, x.broker_id, x.broker_address, x.broker_port, x.status,
        x.latency_ns, x.request_packet, x.response_packet,
        coalesce(x.request_file, x.response_file) AS file
    FROM transactions AS t JOIN exchanges AS x ON x.exchange = t.exchange
    UNION ALL BY NAME
    SELECT
        'assigned' AS event, a.exchange, a.name, a.partition, a.topic_id, 0 AS entries, 0 AS place, a.connection, a.cluster, a.client_id,
        a.client_address, a.group_id, a.member_id, a.generation, a.time_ns, x.api_name, x.api_version, x.broker_id, x.broker_address,
        x.broker_port, x.status, x.latency_ns, x.request_packet, x.response_packet,
        coalesce(x.request_file, x.response_file) AS file
    FROM given_out AS a JOIN exchanges AS x ON x.exchange = a.exchange
)
SELECT
    e.cluster, e.name AS topic, e.topic_id, e.partition, e.time_ns, e.event, e.api_name, e.api_version, e.client_id, e.client_address,
    e.broker_id, e.broker_address, e.broker_port, e.status, e.error_code, r.is_expected AS error_expected, e.latency_ns, e.group_id,
    e.member_id, e.generation, e.transactional_id, e.producer_id, e.producer_epoch, e.base_sequence, e.transactional, e.control_type,
    e.committed, e.batches, e.records, e.bytes, e.asked_offset, e.first_offset, e.last_offset, e.high_watermark, e.last_stable_offset,
    e.log_start_offset, e.leader_epoch, e.timestamp_ms, e.preferred_read_replica, e.marks, e.copy_of AS original_exchange,
    e.expected_sequence, e.epoch_before, e.bump_error, e.bump_topic, e.bump_partition, e.bump_exchange, e.missing_offsets, e.end_before,
    e.leader_before, e.leader_epoch_before, i.isr, e.entries, e.exchange, e.connection, e.request_packet, e.response_packet, f.path
FROM told AS e
    LEFT JOIN (
        SELECT exchange, code, bool_and(coalesce(expected, false)) AS is_expected FROM errors WHERE side = 'response' GROUP BY exchange, code
    ) AS r ON r.exchange = e.exchange AND r.code = e.error_code
    LEFT JOIN (
        SELECT exchange, topic, topic_id, partition, any_value(isr) AS isr FROM broker_events WHERE event = 'isr'
        GROUP BY exchange, topic, topic_id, partition
    ) AS i ON i.exchange = e.exchange AND coalesce(i.topic, i.topic_id) = e.name AND i.partition = e.partition
    LEFT JOIN captures AS f ON f.file = e.file
ORDER BY e.cluster, e.name, e.partition, e.time_ns, e.event <> 'produced', e.exchange, e.place
