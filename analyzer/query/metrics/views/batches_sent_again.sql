-- Idempotent producers that send batches again, one row a client.
-- The same producer id, epoch, partition and first sequence, on any connection to the cluster: each cluster counts its own ids.
-- What two capture points that have names saw is no copy: the one that saw most copies tells.
-- A batch that the broker refused has to be sent again: only copies that it took, or did not answer, count.
WITH refused AS (
    SELECT exchange, coalesce(topic, topic_id) AS topic, partition
    FROM errors
    WHERE side = 'response' AND code <> error('NONE')
        AND exchange IN (SELECT exchange FROM failed_exchanges WHERE api_key = api('Produce'))
    GROUP BY exchange, coalesce(topic, topic_id), partition
),
senders AS (
    SELECT
        w.connection,
        w.client_id,
        c.cluster,
        coalesce(nullif(w.client_id, ''), c.client_address) AS who,
        dense_rank() OVER (ORDER BY c.tap, c.cluster, coalesce(nullif(w.client_id, ''), c.client_address)) AS sender
    FROM (SELECT connection, client_id FROM written_sums WHERE is_sequenced GROUP BY connection, client_id) AS w
    JOIN connections AS c ON c.connection = w.connection
),
batches_sent AS (
    SELECT
        b.exchange,
        b.request_time_ns,
        x.sender,
        b.producer_id,
        b.producer_epoch,
        b.topic,
        b.partition,
        b.base_sequence
    FROM produced AS b
    JOIN senders AS x ON x.connection = b.connection AND x.client_id IS NOT DISTINCT FROM b.client_id
    WHERE b.producer_id >= 0 AND b.base_sequence >= 0
        AND NOT EXISTS (
            SELECT 1 FROM refused AS r WHERE r.exchange = b.exchange AND r.topic = b.topic AND r.partition = b.partition
        )
),
sent AS (
    SELECT
        sender,
        producer_id,
        producer_epoch,
        topic,
        partition,
        base_sequence,
        count(*) AS copies,
        min(request_time_ns) AS first_time_ns,
        max(request_time_ns) AS last_time_ns
    FROM batches_sent
    GROUP BY sender, producer_id, producer_epoch, topic, partition, base_sequence
    HAVING count(*) > 1
),
totals AS (
    SELECT sender, count(*) AS copies FROM batches_sent GROUP BY sender
),
resent AS (
    SELECT
        t.sender,
        t.copies,
        CAST(sum(s.copies - 1) AS BIGINT) AS copies_again,
        min(s.first_time_ns) AS first_time_ns,
        max(s.last_time_ns) AS last_time_ns
    FROM sent AS s JOIN totals AS t ON t.sender = s.sender
    GROUP BY t.sender, t.copies
    HAVING t.copies >= 30 AND sum(s.copies - 1) * 100 >= t.copies
),
-- The first and the last request of each batch, found by their times.
ends AS (
    SELECT
        s.sender,
        s.copies,
        min(b.exchange) FILTER (WHERE b.request_time_ns = s.first_time_ns) AS first_exchange,
        max(b.exchange) FILTER (WHERE b.request_time_ns = s.last_time_ns) AS last_exchange
    FROM sent AS s
    JOIN batches_sent AS b
        ON b.sender = s.sender AND b.producer_id = s.producer_id AND b.producer_epoch = s.producer_epoch
        AND b.topic IS NOT DISTINCT FROM s.topic AND b.partition IS NOT DISTINCT FROM s.partition
        AND b.base_sequence = s.base_sequence
    WHERE s.sender IN (SELECT sender FROM resent) AND b.request_time_ns IN (s.first_time_ns, s.last_time_ns)
    GROUP BY s.sender, s.copies, s.producer_id, s.producer_epoch, s.topic, s.partition, s.base_sequence
)
SELECT
    x.cluster,
    x.who,
    r.copies AS sent,
    r.copies_again AS resent,
    CAST(r.copies_again AS DOUBLE) / r.copies AS resent_share,
    r.copies_again AS weight,
    max_by(e.first_exchange, (e.copies, e.last_exchange)) AS evidence_original,
    max_by(e.last_exchange, (e.copies, e.last_exchange)) AS evidence_copy,
    r.first_time_ns,
    r.last_time_ns
FROM resent AS r
JOIN ends AS e ON e.sender = r.sender
JOIN (SELECT cluster, who, sender FROM senders GROUP BY cluster, who, sender) AS x ON x.sender = r.sender
GROUP BY x.cluster, x.who, r.sender, r.copies, r.copies_again, r.first_time_ns, r.last_time_ns
QUALIFY row_number() OVER (PARTITION BY x.cluster, x.who ORDER BY r.copies_again DESC, r.sender) = 1
