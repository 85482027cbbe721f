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
batches_sent AS (
    SELECT
        b.exchange,
        b.producer_id,
        b.producer_epoch,
        coalesce(b.topic, b.topic_id) AS topic,
        b.partition,
        b.base_sequence,
        count(*) AS copies
    FROM batches AS b
    LEFT JOIN refused AS r
        ON r.exchange = b.exchange AND r.topic = coalesce(b.topic, b.topic_id) AND r.partition = b.partition
    WHERE b.side = 'request' AND b.producer_id >= 0 AND b.base_sequence >= 0 AND r.exchange IS NULL
    GROUP BY
        b.exchange, b.producer_id, b.producer_epoch, coalesce(b.topic, b.topic_id), b.partition, b.base_sequence
),
sent AS (
    SELECT
        c.cluster,
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
    FROM batches_sent AS b
    JOIN exchanges AS x ON x.exchange = b.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_key = 0
    GROUP BY
        c.cluster, coalesce(x.client_id, x.client_address), b.producer_id, b.producer_epoch, b.topic, b.partition,
        b.base_sequence
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
