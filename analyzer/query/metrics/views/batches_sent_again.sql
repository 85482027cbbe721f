-- Idempotent producers that send batches again, one row a client.
-- The same producer id, epoch, partition and first sequence, on any connection to the cluster: each cluster counts its own ids.
-- A batch that the broker refused has to be sent again: only copies that it took, or did not answer, count.
WITH refused AS (
    SELECT exchange, coalesce(topic, topic_id) AS topic, partition
    FROM errors
    WHERE side = 'response' AND code <> error('NONE')
    GROUP BY exchange, coalesce(topic, topic_id), partition
),
-- Grouped before they meet anything else: an engine leaves the offsets of `batches` out only where few are joined.
batches_sent AS (
    SELECT b.*
    FROM (
        SELECT
            exchange,
            producer_id,
            producer_epoch,
            coalesce(topic, topic_id) AS topic,
            partition,
            base_sequence,
            count(*) AS copies
        FROM batches
        WHERE side = 'request' AND producer_id >= 0 AND base_sequence >= 0
        GROUP BY exchange, producer_id, producer_epoch, coalesce(topic, topic_id), partition, base_sequence
    ) AS b
    WHERE NOT EXISTS (
        SELECT 1 FROM refused AS r WHERE r.exchange = b.exchange AND r.topic = b.topic AND r.partition = b.partition
    )
),
-- Nearly all batches are sent once: only the others are looked at one by one.
repeated AS (
    SELECT producer_id, producer_epoch, topic, partition, base_sequence
    FROM batches_sent
    GROUP BY producer_id, producer_epoch, topic, partition, base_sequence
    HAVING sum(copies) > 1
),
senders AS (
    SELECT x.exchange, c.cluster, who(x) AS who, x.request_time_ns
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_key = api('Produce')
),
totals AS (
    SELECT x.cluster, x.who, sum(b.copies) AS copies
    FROM batches_sent AS b JOIN senders AS x ON x.exchange = b.exchange
    GROUP BY x.cluster, x.who
),
sent AS (
    SELECT
        x.cluster,
        x.who,
        b.producer_id,
        b.producer_epoch,
        b.topic,
        b.partition,
        b.base_sequence,
        sum(b.copies) AS copies,
        min_by(b.exchange, (x.request_time_ns, b.exchange)) AS first_exchange,
        max_by(b.exchange, (x.request_time_ns, b.exchange)) AS last_exchange,
        min(x.request_time_ns) AS first_time_ns,
        max(x.request_time_ns) AS last_time_ns
    FROM batches_sent AS b
    JOIN repeated AS r
        ON r.producer_id = b.producer_id AND r.producer_epoch = b.producer_epoch AND r.topic IS NOT DISTINCT FROM b.topic
        AND r.partition IS NOT DISTINCT FROM b.partition AND r.base_sequence = b.base_sequence
    JOIN senders AS x ON x.exchange = b.exchange
    GROUP BY x.cluster, x.who, b.producer_id, b.producer_epoch, b.topic, b.partition, b.base_sequence
    HAVING sum(b.copies) > 1
)
SELECT
    s.cluster,
    s.who,
    CAST(max(t.copies) AS BIGINT) AS sent,
    CAST(sum(s.copies - 1) AS BIGINT) AS resent,
    CAST(sum(s.copies - 1) AS DOUBLE) / max(t.copies) AS resent_share,
    CAST(sum(s.copies - 1) AS BIGINT) AS weight,
    max_by(s.first_exchange, (s.copies, s.last_exchange)) AS evidence_original,
    max_by(s.last_exchange, (s.copies, s.last_exchange)) AS evidence_copy,
    min(s.first_time_ns) AS first_time_ns,
    max(s.last_time_ns) AS last_time_ns
FROM sent AS s JOIN totals AS t ON t.cluster IS NOT DISTINCT FROM s.cluster AND t.who = s.who
GROUP BY s.cluster, s.who
HAVING max(t.copies) >= 30 AND sum(s.copies - 1) * 100 >= max(t.copies)
