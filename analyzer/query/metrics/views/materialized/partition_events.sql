-- What names a partition, or all (`settings`): batches, and requests, each once. One row per event, as `partition_story` has them.
WITH chosen AS (
    SELECT e.*, coalesce(e.topic, e.topic_id) AS name
    FROM entries AS e CROSS JOIN settings AS s
    WHERE e.partition IS NOT NULL AND (s.story_topic IS NULL OR e.topic = s.story_topic OR e.topic_id = s.story_topic)
        AND (s.story_partition IS NULL OR e.partition = s.story_partition)
),
chosen_batches AS (
    SELECT b.*, coalesce(b.topic, b.topic_id) AS name
    FROM batches AS b CROSS JOIN settings AS s
    WHERE b.partition IS NOT NULL AND (s.story_topic IS NULL OR b.topic = s.story_topic OR b.topic_id = s.story_topic)
        AND (s.story_partition IS NULL OR b.partition = s.story_partition)
),
named AS (
    SELECT
        exchange,
        name,
        partition,
        max(topic_id) AS topic_id,
        count(*) AS entries,
        max(error_code) FILTER (WHERE side = 'response') AS error_code,
        max(c.offset) FILTER (WHERE side = 'request') AS asked_offset,
        max(c.offset) FILTER (WHERE side = 'response') AS told_offset,
        max(high_watermark) FILTER (WHERE high_watermark >= 0) AS high_watermark,
        max(last_stable_offset) FILTER (WHERE last_stable_offset >= 0) AS last_stable_offset,
        max(log_start_offset) FILTER (WHERE log_start_offset >= 0) AS log_start_offset,
        max(leader_epoch) FILTER (WHERE leader_epoch >= 0) AS leader_epoch,
        max(timestamp_ms) FILTER (WHERE side = 'request') AS asked_timestamp_ms,
        max(preferred_read_replica) FILTER (WHERE preferred_read_replica >= 0) AS preferred_read_replica,
        max(next_offset) AS next_offset,
        max(record_bytes) AS record_bytes
    FROM chosen AS c
    GROUP BY exchange, name, partition
),
-- One row per batch; the first of an exchange and side contains the exchange's entries.
carried AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY exchange, name, partition, side ORDER BY position, base_offset, base_sequence, crc, bytes
        ) AS place
    FROM chosen_batches
),
delivered_in AS (
    SELECT
        exchange,
        name,
        partition,
        count(*) AS batches,
        CAST(sum(records) AS BIGINT) AS records,
        min(stored_base_offset) AS first_offset,
        max(stored_last_offset) AS last_offset
    FROM carried
    WHERE side = 'response'
    GROUP BY exchange, name, partition
),
-- Where a consumer reads is in its fetch session, if not in the request.
positions AS (
    SELECT p.exchange, coalesce(p.topic, p.topic_id) AS name, p.partition, max(p.fetch_offset) AS fetch_offset
    FROM fetch_positions AS p CROSS JOIN settings AS s
    WHERE s.story_topic IS NULL OR p.topic = s.story_topic OR p.topic_id = s.story_topic
    GROUP BY p.exchange, coalesce(p.topic, p.topic_id), p.partition
),
of_batches AS (
    SELECT
        CASE WHEN b.side = 'request' THEN 'produced' ELSE 'delivered' END AS event,
        b.exchange,
        b.name,
        b.partition,
        coalesce(n.topic_id, b.topic_id) AS topic_id,
        CASE WHEN b.side = 'request' AND b.place = 1 THEN n.entries ELSE 0 END AS entries,
        b.place,
        CASE WHEN b.side = 'request' THEN n.error_code END AS error_code,
        CAST(NULL AS BIGINT) AS asked_offset,
        b.stored_base_offset AS first_offset,
        b.stored_last_offset AS last_offset,
        CAST(NULL AS BIGINT) AS high_watermark,
        CAST(NULL AS BIGINT) AS last_stable_offset,
        CASE WHEN b.side = 'request' THEN n.log_start_offset END AS log_start_offset,
        CASE WHEN b.side = 'request' THEN n.leader_epoch END AS leader_epoch,
        CAST(NULL AS BIGINT) AS timestamp_ms,
        CAST(NULL AS INTEGER) AS preferred_read_replica,
        CAST(1 AS BIGINT) AS batches,
        CAST(b.records AS BIGINT) AS records,
        CAST(b.bytes AS BIGINT) AS bytes,
        b.producer_id,
        b.producer_epoch,
        b.base_sequence,
        b.last_offset - b.base_offset + 1 AS sequences,
        b.transactional,
        b.control_type,
        b.first_timestamp_ms,
        b.max_timestamp_ms,
        b.crc
    FROM carried AS b
        LEFT JOIN named AS n ON n.exchange = b.exchange AND n.name = b.name AND n.partition = b.partition
),
of_requests AS (
    SELECT
        CASE x.api_key WHEN api('Produce') THEN 'produced' WHEN api('Fetch') THEN 'fetched' ELSE 'requested' END AS event,
        n.*,
        p.fetch_offset,
        d.batches,
        d.records,
        d.first_offset,
        d.last_offset
    FROM named AS n
        JOIN exchanges AS x ON x.exchange = n.exchange
        LEFT JOIN positions AS p ON p.exchange = n.exchange AND p.name = n.name AND p.partition = n.partition
        LEFT JOIN delivered_in AS d ON d.exchange = n.exchange AND d.name = n.name AND d.partition = n.partition
    WHERE NOT EXISTS (
        SELECT 1 FROM carried AS b
        WHERE b.exchange = n.exchange AND b.name = n.name AND b.partition = n.partition AND b.side = 'request'
    )
),
told AS (
    SELECT * FROM of_batches
    UNION ALL BY NAME
    SELECT
        event, exchange, name, partition, topic_id, entries, 0 AS place, error_code,
        coalesce(asked_offset, fetch_offset) AS asked_offset,
        CASE WHEN event = 'requested' THEN told_offset ELSE first_offset END AS first_offset,
        CASE WHEN event = 'fetched' THEN last_offset END AS last_offset,
        high_watermark, last_stable_offset, log_start_offset, leader_epoch, asked_timestamp_ms AS timestamp_ms, preferred_read_replica,
        batches, records, CAST(record_bytes AS BIGINT) AS bytes
    FROM of_requests
)
SELECT
    t.*,
    x.connection,
    c.cluster,
    x.api_key,
    x.api_name,
    x.api_version,
    x.client_id,
    x.client_address,
    x.broker_id,
    x.broker_address,
    x.broker_port,
    x.role,
    x.replica_id,
    x.rack_id,
    x.status,
    x.acks,
    x.latency_ns,
    x.group_id,
    x.member_id,
    x.generation_id AS generation,
    x.transactional_id,
    CAST(NULL AS BOOLEAN) AS committed,
    x.request_time_ns,
    x.response_time_ns,
    x.response_file,
    x.request_packet,
    x.response_packet,
    coalesce(x.request_file, x.response_file) AS file,
    coalesce(c.client_gaps, 0) > 0 OR x.request_decoded <> 'full' AS unsure,
    CASE WHEN t.event = 'produced' THEN coalesce(x.request_time_ns, x.response_time_ns)
        ELSE coalesce(x.response_time_ns, x.request_time_ns) END AS time_ns
FROM told AS t JOIN exchanges AS x ON x.exchange = t.exchange JOIN connections AS c ON c.connection = x.connection
