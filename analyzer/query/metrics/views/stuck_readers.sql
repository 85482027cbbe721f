-- Which consumers make no progress? One row per client and partition: `fetches` in `lasted_ns` that never went beyond
-- `stuck_offset`, although there were records behind it; `what` it got meanwhile: nothing, records up to `last_record` before it, the same
-- records, the beginning of a message, or a stretch that it `went_back` in.
-- A Fetch counts that was answered without an error or a throttle time. Ten of them, 5 s at most apart on average, for 5 s; twenty in
-- 10 s where no records came, for a reply that was full of others has none. The end lies ten records ahead at least: who looks at
-- the newest record again and again is no stuck consumer. Nor is who reads all of it again, and reaches the end each time.
-- One connection tells it, or a row of connections with up to three such Fetches each: who begins anew after each failure.
-- A consumer that keeps up costs no sort (`partition_clients`).
WITH asked AS (
    SELECT
        p.connection,
        p.cluster,
        x.client_address,
        x.client_id,
        x.broker_address,
        x.broker_port,
        coalesce(p.topic, p.topic_id) AS topic,
        p.partition,
        p.exchange,
        p.time_ns,
        p.fetch_offset,
        x.api_version,
        coalesce(p.record_bytes, 0) AS record_bytes,
        x.latency_ns >= CAST(x.max_wait_ms AS BIGINT) * ms(1) - ms(10) AND x.max_wait_ms >= 100 AS is_waited_out,
        coalesce(p.new_end_offset, p.end_offset) AS end_offset,
        count(*) OVER (PARTITION BY p.connection, coalesce(p.topic, p.topic_id), p.partition) > 3 AS alone
    FROM fetch_positions AS p
    JOIN exchanges AS x ON x.exchange = p.exchange
    JOIN partition_clients AS b
        ON b.client_address = x.client_address AND b.client_id IS NOT DISTINCT FROM x.client_id
        AND b.topic = coalesce(p.topic, p.topic_id) AND b.partition = p.partition AND b.lingers
    WHERE x.api_key = api('Fetch') AND is_client(x.role) AND coalesce(x.replica_id, -1) < 0 AND x.status = 'answered'
        AND x.response_decoded = 'full' AND coalesce(x.error_count, 0) = 0 AND coalesce(x.throttle_time_ms, 0) = 0
        AND p.fetch_offset IS NOT NULL
),
followed AS (
    SELECT
        *,
        CASE WHEN alone THEN connection ELSE 0 END AS line,
        max(fetch_offset) OVER (
            PARTITION BY cluster, client_address, client_id, topic, partition, CASE WHEN alone THEN connection ELSE 0 END
            ORDER BY time_ns, exchange ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS highest,
        lag(fetch_offset) OVER (
            PARTITION BY cluster, client_address, client_id, topic, partition, CASE WHEN alone THEN connection ELSE 0 END
            ORDER BY time_ns, exchange
        ) AS offset_before
    FROM asked
),
-- A stretch ends with a Fetch beyond all before it.
stretched AS (
    SELECT
        *,
        sum(CASE WHEN highest IS NULL OR fetch_offset > highest THEN 1 ELSE 0 END) OVER (
            PARTITION BY cluster, client_address, client_id, topic, partition, line
            ORDER BY time_ns, exchange ROWS UNBOUNDED PRECEDING
        ) AS stretch
    FROM followed
),
judged AS (
    SELECT
        cluster,
        client_address,
        client_id,
        topic,
        partition,
        line,
        stretch,
        max(fetch_offset) AS stuck_offset,
        count(*) AS fetches,
        count(DISTINCT fetch_offset) AS offsets,
        count(*) FILTER (WHERE fetch_offset < offset_before AND highest IS NOT NULL) AS backwards,
        count(*) FILTER (WHERE record_bytes > 0) AS filled,
        coalesce(bool_and(is_waited_out), false) AS waited_out,
        -- Only these are cut in the midst of their first message (KIP-74).
        bool_and(api_version <= 2) AS may_be_cut,
        min(record_bytes) AS least_bytes,
        max(record_bytes) AS most_bytes,
        max(end_offset) - max(fetch_offset) AS lag,
        -- Null: unknown of one of them.
        min(end_offset - fetch_offset) AS least_ahead,
        count(end_offset) AS known,
        max(broker_address) || ':' || CAST(max(broker_port) AS STRING) AS broker,
        min_by(connection, (time_ns, exchange)) AS connection,
        min_by(exchange, (time_ns, exchange)) AS evidence_first,
        max_by(exchange, (time_ns, exchange)) AS evidence_last,
        max(time_ns) - min(time_ns) AS lasted_ns,
        min(time_ns) AS first_time_ns,
        max(time_ns) AS last_time_ns
    FROM stretched
    GROUP BY cluster, client_address, client_id, topic, partition, line, stretch
),
told AS (
    SELECT
        *,
        CASE
            WHEN offsets > 1 AND backwards >= 10 AND line <> 0 AND least_ahead > 0 THEN 'back'
            WHEN offsets > 1 OR fetches < 10 OR lasted_ns < s(5) OR (line = 0 AND lasted_ns / fetches > s(2)) THEN NULL
            WHEN filled = 0 THEN CASE WHEN fetches >= 20 AND lasted_ns >= s(10) THEN 'nothing' END
            WHEN filled < 10 THEN NULL
            ELSE 'filled'
        END AS sort
    FROM judged
    WHERE lag >= 10 AND known = fetches AND lasted_ns / fetches <= s(5)
),
-- Where what came ends.
read AS (
    SELECT t.evidence_first, t.topic, t.partition, max(e.next_offset) AS read_to
    FROM told AS t
    JOIN stretched AS s
        ON s.cluster IS NOT DISTINCT FROM t.cluster AND s.client_address = t.client_address
        AND s.client_id IS NOT DISTINCT FROM t.client_id AND s.topic = t.topic AND s.partition = t.partition
        AND s.line = t.line AND s.stretch = t.stretch
    JOIN entries AS e ON e.exchange = s.exchange AND coalesce(e.topic, e.topic_id) = s.topic AND e.partition = s.partition
    WHERE t.sort = 'filled' AND e.side = 'response' AND e.next_offset IS NOT NULL
    GROUP BY t.evidence_first, t.topic, t.partition
),
-- Where nothing comes: the replica that most replies name to read from instead.
sent_on AS (
    SELECT t.evidence_first, t.topic, t.partition, max(e.preferred_read_replica) AS replica
    FROM told AS t
    JOIN exchanges AS x
        ON x.client_address = t.client_address AND x.client_id IS NOT DISTINCT FROM t.client_id AND x.api_key = api('Fetch')
        AND x.request_time_ns BETWEEN t.first_time_ns AND t.last_time_ns
    JOIN entries AS e ON e.exchange = x.exchange AND coalesce(e.topic, e.topic_id) = t.topic AND e.partition = t.partition
    WHERE t.sort = 'nothing' AND e.side = 'response' AND coalesce(x.error_count, 0) = 0
    GROUP BY t.evidence_first, t.topic, t.partition
    HAVING count(*) FILTER (WHERE e.preferred_read_replica >= 0) * 2 > count(*)
),
sorted AS (
    SELECT
        t.* REPLACE (
            CASE WHEN p.replica IS NOT NULL THEN 'elsewhere' WHEN t.sort = 'nothing' AND t.waited_out THEN 'late' WHEN t.sort <> 'filled' THEN t.sort WHEN r.read_to <= t.stuck_offset THEN 'before'
                WHEN r.read_to IS NULL AND t.may_be_cut AND t.least_bytes = t.most_bytes THEN 'cut' ELSE 'same' END AS sort
        ),
        r.read_to,
        p.replica
    FROM told AS t
    LEFT JOIN sent_on AS p ON p.evidence_first = t.evidence_first AND p.topic = t.topic AND p.partition = t.partition
    LEFT JOIN read AS r ON r.evidence_first = t.evidence_first AND r.topic = t.topic AND r.partition = t.partition
    WHERE t.sort IS NOT NULL
)
SELECT
    who() AS who,
    client_address,
    broker,
    topic,
    partition,
    connection,
    stuck_offset,
    fetches,
    lasted_ns,
    CASE WHEN sort = 'before' THEN read_to - 1 END AS last_record,
    CASE sort
        WHEN 'nothing' THEN 'it receives no records'
        WHEN 'late' THEN 'it receives no records, and waits for its whole fetch.max.wait.ms each time'
        WHEN 'elsewhere' THEN 'the leader sends no records, but says to read from broker ' || CAST(replica AS STRING)
        WHEN 'before' THEN 'it receives only records before that offset'
        WHEN 'cut' THEN 'each reply ends within its first message, after ' || CAST(most_bytes AS STRING) || ' bytes'
        WHEN 'same' THEN 'it receives the same records each time'
        ELSE 'it goes back again and again'
    END AS what,
    lag,
    CASE sort
        WHEN 'nothing' THEN 'The broker sends nothing of this partition: a batch may be larger than what the client fetches (max.partition.fetch.bytes, fetch.max.bytes), other partitions may fill each reply, or its log is damaged: see the log of the broker.'
        WHEN 'late' THEN 'The broker reads nothing of this partition in that time, as where these records lie in remote storage, which takes longer: raise fetch.max.wait.ms of this client, or remote.fetch.max.wait.ms of the brokers (KIP-1018), and see the log of the broker for reads that fail.'
        WHEN 'elsewhere' THEN 'client.rack of this client makes the leader name a closer replica (KIP-392), and the client does not read there: it cannot reach that broker or does not know how. Upgrade its library, see whether it reaches that broker, or take client.rack away.'
        WHEN 'before' THEN 'The batch at this offset ends before it, as after compaction or deletion: client libraries that go on only behind a record stay here. Upgrade the client, or set the offset of its group behind the gap (kafka-consumer-groups.sh --reset-offsets).'
        WHEN 'cut' THEN 'The message at this offset is larger than what the client asks for (max.partition.fetch.bytes, fetch.message.max.bytes), and by this version of Fetch it gets the beginning alone, each time: raise that limit, or upgrade the client.'
        WHEN 'same' THEN 'The client throws away what it gets: a record that it cannot read (checksum, compression, format), or code that fails at a record and tries again. Look at its log; skip the record (kafka-consumer-groups.sh --reset-offsets) if it is to go on.'
        ELSE 'Code of this client seeks back to where it began, most likely at each failure to process a record: look at its log; skip the record (kafka-consumer-groups.sh --reset-offsets) if it is to go on.'
    END AS advice,
    CASE WHEN lasted_ns >= s(10) AND sort <> 'back' THEN 'high' ELSE 'medium' END AS severity,
    fetches AS weight,
    evidence_first,
    evidence_last,
    first_time_ns,
    last_time_ns
FROM sorted
