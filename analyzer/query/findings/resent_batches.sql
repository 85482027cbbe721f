-- severity: medium
-- rank: 30
-- when: batches having count(*) FILTER (WHERE side = 'request' AND producer_id >= 0 AND base_sequence >= 0) >= 30
-- says: {who} resends {resent_share} of its batches ({resent} of {sent})
-- do: Its requests time out or its connections break: compare its request.timeout.ms with the Produce latency, and check its network.
-- look: kanalyze latency[ --client {who}] --api Produce
-- The same producer id, epoch, partition and first sequence, on any connection to the cluster: each cluster counts its own ids.
-- A batch that the broker refused has to be sent again: only copies that it took, or did not answer, count.
WITH refused AS (
    SELECT exchange, coalesce(topic, topic_id) AS topic, partition
    FROM errors
    WHERE side = 'response' AND code <> 0
    GROUP BY exchange, coalesce(topic, topic_id), partition
),
-- Grouped before they meet anything else, and connections last: an engine leaves the offsets of `batches` out only where few are joined.
batches_sent AS (
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
),
sent_by_connection AS (
    SELECT
        x.connection,
        coalesce(x.client_id, x.client_address) AS who,
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
    FROM batches_sent AS b JOIN exchanges AS x ON x.exchange = b.exchange
    WHERE x.api_key = 0 AND NOT EXISTS (
        SELECT 1 FROM refused AS r WHERE r.exchange = b.exchange AND r.topic = b.topic AND r.partition = b.partition
    )
    GROUP BY
        x.connection, coalesce(x.client_id, x.client_address), b.producer_id, b.producer_epoch, b.topic, b.partition,
        b.base_sequence
),
sent AS (
    SELECT
        c.cluster,
        s.who,
        s.producer_id,
        s.producer_epoch,
        s.topic,
        s.partition,
        s.base_sequence,
        sum(s.copies) AS copies,
        min_by(s.first_exchange, (s.first_time_ns, s.first_exchange)) AS first_exchange,
        max_by(s.last_exchange, (s.last_time_ns, s.last_exchange)) AS last_exchange,
        min(s.first_time_ns) AS first_time_ns,
        max(s.last_time_ns) AS last_time_ns
    FROM sent_by_connection AS s JOIN connections AS c ON c.connection = s.connection
    GROUP BY c.cluster, s.who, s.producer_id, s.producer_epoch, s.topic, s.partition, s.base_sequence
)
SELECT
    who,
    CAST(sum(copies) AS BIGINT) AS sent,
    CAST(sum(copies - 1) AS BIGINT) AS resent,
    CAST(sum(copies - 1) AS DOUBLE) / sum(copies) AS resent_share,
    CAST(sum(copies - 1) AS BIGINT) AS weight,
    max_by(first_exchange, (copies, last_exchange)) AS evidence_original,
    max_by(last_exchange, (copies, last_exchange)) AS evidence_copy,
    min(first_time_ns) FILTER (WHERE copies > 1) AS first_time_ns,
    max(last_time_ns) FILTER (WHERE copies > 1) AS last_time_ns
FROM sent
GROUP BY cluster, who
HAVING sum(copies) >= 30 AND sum(copies - 1) * 100 >= sum(copies)
