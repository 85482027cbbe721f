-- Where do read_committed consumers receive nothing, although records are written? One row per partition whose last
-- stable offset stood still for `lasted_ns` while `records` were written.
-- The last stable offset stands still below a high watermark that grows, for longer than the greatest transaction timeout that a
-- producer asked for in this capture, 60 s when none did. While the two are equal nothing is held back. Or it stands still for as long
-- as a client may be stuck, at a batch of a producer (`left_by`) whose connection ended before and that did not end its transaction: the
-- coordinator ends that one at its timeout, or up to 10 s after it. A client that goes on over another connection has left nothing;
-- but one that asks for its producer id again has begun anew.
WITH patience AS (
    SELECT coalesce(CAST(max(transaction_timeout_ms) AS BIGINT), 60000) * ms(1) AS timeout_ns
    FROM all_transaction_events
    WHERE event = 'init' AND transaction_timeout_ms > 0
),
seen AS (
    SELECT
        c.cluster,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        e.last_stable_offset,
        e.high_watermark,
        x.response_time_ns AS time_ns,
        e.exchange
    FROM entries AS e
    JOIN exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_name = 'Fetch' AND e.side = 'response' AND e.last_stable_offset >= 0
        AND e.last_stable_offset < e.high_watermark
),
still AS (
    SELECT
        cluster,
        topic,
        partition,
        last_stable_offset,
        max(time_ns) - min(time_ns) AS lasted_ns,
        max(high_watermark) - min(high_watermark) AS records,
        min_by(exchange, (time_ns, exchange)) AS evidence_first,
        max_by(exchange, (time_ns, exchange)) AS evidence_last,
        min(time_ns) AS first_time_ns,
        max(time_ns) AS last_time_ns
    FROM seen
    GROUP BY cluster, topic, partition, last_stable_offset
    HAVING max(high_watermark) > min(high_watermark)
),
-- The batch at which a last stable offset stands is the first of the transaction that holds it back.
holders AS (
    SELECT
        s.cluster,
        s.topic,
        s.partition,
        s.last_stable_offset,
        b.exchange,
        x.client_address,
        x.client_id,
        c.last_time_ns AS ended_ns,
        max(i.begin_ns) > c.last_time_ns AS began_anew,
        min(concat(who(x), ' (transactional id ' || i.transactional_id || ')')) AS left_by
    FROM still AS s
    -- The offset that the reply to its Produce tells: a large report has none of batches.
    JOIN entries AS w
        ON coalesce(w.topic, w.topic_id) = s.topic AND w.partition = s.partition AND w.side = 'response' AND w.offset = s.last_stable_offset
    JOIN batches AS b ON b.exchange = w.exchange AND coalesce(b.topic, b.topic_id) = s.topic AND b.partition = s.partition
    JOIN exchanges AS x ON x.exchange = b.exchange
    JOIN connections AS c ON c.connection = x.connection
    LEFT JOIN all_transaction_events AS i ON i.event = 'init' AND i.producer_id = b.producer_id AND i.cluster IS NOT DISTINCT FROM c.cluster
    LEFT JOIN all_transaction_events AS e
        ON e.event = 'end' AND e.producer_id = b.producer_id AND e.cluster IS NOT DISTINCT FROM c.cluster
        AND e.begin_ns >= x.request_time_ns AND coalesce(e.producer_epoch = b.producer_epoch, true)
    WHERE b.side = 'request' AND b.producer_id IS NOT NULL AND c.cluster IS NOT DISTINCT FROM s.cluster AND c.close <> 'none'
        AND c.forwarded_from IS NULL AND is_client(x.role)
        AND c.last_time_ns < s.last_time_ns AND s.lasted_ns >= impact('stuck_ns')
    GROUP BY s.cluster, s.topic, s.partition, s.last_stable_offset, b.exchange, x.client_address, x.client_id, c.last_time_ns
    HAVING count(e.exchange) = 0
),
went_on AS (
    SELECT h.exchange
    FROM holders AS h JOIN all_exchanges AS x
        ON x.client_address = h.client_address AND x.client_id IS NOT DISTINCT FROM h.client_id
    WHERE x.request_time_ns > h.ended_ns AND h.began_anew IS NOT TRUE
    GROUP BY h.exchange
),
left_open AS (
    SELECT h.cluster, h.topic, h.partition, h.last_stable_offset, min(h.left_by) AS left_by, min(h.exchange) AS exchange
    FROM holders AS h LEFT JOIN went_on AS w ON w.exchange = h.exchange
    WHERE w.exchange IS NULL
    GROUP BY h.cluster, h.topic, h.partition, h.last_stable_offset
),
told AS (
    SELECT s.*, l.left_by, l.exchange AS evidence_left, l.left_by IS NOT NULL AND s.lasted_ns <= p.timeout_ns + s(15) AS ends_itself
    FROM still AS s
    CROSS JOIN patience AS p
    LEFT JOIN left_open AS l
        ON l.cluster IS NOT DISTINCT FROM s.cluster AND l.topic = s.topic AND l.partition = s.partition
        AND l.last_stable_offset = s.last_stable_offset
    WHERE s.lasted_ns > p.timeout_ns OR l.exchange IS NOT NULL
)
SELECT
    topic,
    partition,
    lasted_ns,
    records,
    left_by,
    CASE WHEN ends_itself
        THEN 'Start this producer again with the same transactional.id at once, which aborts what it left open, or lower its transaction.timeout.ms: readers wait for as long.'
        ELSE 'Find the producer with kafka-transactions.sh find-hanging, and abort its transaction with kafka-transactions.sh abort.'
    END AS advice,
    CASE WHEN ends_itself THEN 'medium' END AS severity,
    lasted_ns AS weight,
    evidence_first,
    evidence_last,
    evidence_left,
    first_time_ns,
    last_time_ns
FROM told
