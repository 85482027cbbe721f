-- severity: high
-- rank: 20
-- when: errors having bool_or(code = error('OUT_OF_ORDER_SEQUENCE_NUMBER'))
-- says: {who} sent batches out of sequence to topic {topic}, {times|time|times}: the broker rejected them (OUT_OF_ORDER_SEQUENCE_NUMBER)[; the first follows the batch that was acknowledged {quiet_ns} before, and none between is missing]
-- do: {advice}
-- look: kanalyze errors --by topic[ --client {who}][ --topic {topic}]
-- explains: resent_batches, failing(UNKNOWN_PRODUCER_ID|INVALID_PRODUCER_ID_MAPPING|INVALID_TXN_STATE)
-- costs: refused(OUT_OF_ORDER_SEQUENCE_NUMBER)
-- After another batch of the partition was refused, those already on their way are out of order too, and the producer sends all of
-- them again: such refusals alone are not told. 120 s is the usual delivery.timeout.ms, for which a producer tries.
-- `quiet_ns`: the first one goes on where the last acknowledged batch of this producer ended, a minute before or longer: then it is the
-- broker that no longer knows what it had acknowledged.
-- The batches of refused requests alone: with all of them each would be given its offsets.
WITH refused_batches AS (
    SELECT exchange, partition, coalesce(topic, topic_id) AS topic, producer_id, producer_epoch, base_sequence
    FROM batches
    WHERE side = 'request' AND exchange IN (SELECT exchange FROM failed_exchanges WHERE api_name = 'Produce')
    GROUP BY exchange, partition, coalesce(topic, topic_id), producer_id, producer_epoch, base_sequence, position
),
refusals AS (
    SELECT
        c.cluster,
        e.exchange,
        e.code,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        who(x) AS who,
        x.response_time_ns,
        b.producer_id,
        b.producer_epoch,
        b.base_sequence
    FROM errors AS e
    JOIN failed_exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    LEFT JOIN refused_batches AS b
        ON b.exchange = e.exchange AND b.partition = e.partition AND b.topic = coalesce(e.topic, e.topic_id)
    WHERE x.api_name = 'Produce' AND e.side = 'response'
),
explained AS (
    SELECT o.exchange, o.topic, o.partition
    FROM refusals AS o JOIN refusals AS r
        ON r.cluster IS NOT DISTINCT FROM o.cluster AND r.topic = o.topic AND r.partition = o.partition
        AND r.producer_id = o.producer_id AND r.producer_epoch = o.producer_epoch
    WHERE o.code = error('OUT_OF_ORDER_SEQUENCE_NUMBER') AND r.code <> error('OUT_OF_ORDER_SEQUENCE_NUMBER')
        AND r.base_sequence <= o.base_sequence
        AND r.response_time_ns <= o.response_time_ns AND o.response_time_ns - r.response_time_ns <= s(120)
    GROUP BY o.exchange, o.topic, o.partition
),
-- Of batches taken before: where each producer had come to.
taken AS (
    SELECT
        coalesce(b.topic, b.topic_id) AS topic,
        b.partition,
        b.producer_id,
        b.producer_epoch,
        max(CAST(b.base_sequence AS BIGINT) + b.records) AS next_sequence,
        x.response_time_ns
    FROM batches AS b JOIN exchanges AS x ON x.exchange = b.exchange
    WHERE b.side = 'request' AND x.api_key = api('Produce') AND no_error(x.error_code) AND x.status = 'answered'
        AND b.producer_id IN (SELECT producer_id FROM refused_batches)
    GROUP BY coalesce(b.topic, b.topic_id), b.partition, b.producer_id, b.producer_epoch, x.response_time_ns
),
follows AS (
    SELECT o.exchange, o.topic, o.partition, min(o.response_time_ns - t.response_time_ns) AS quiet_ns
    FROM refusals AS o
    ASOF JOIN taken AS t
        ON t.topic = o.topic AND t.partition = o.partition AND t.producer_id = o.producer_id AND t.producer_epoch = o.producer_epoch
        AND t.response_time_ns < o.response_time_ns
    WHERE t.next_sequence = o.base_sequence AND o.response_time_ns - t.response_time_ns >= s(60)
    GROUP BY o.exchange, o.topic, o.partition
)
SELECT
    o.who,
    o.topic,
    count(*) AS times,
    min_by(f.quiet_ns, (o.response_time_ns, o.exchange)) FILTER (WHERE e.exchange IS NULL) AS quiet_ns,
    CASE WHEN min_by(f.quiet_ns, (o.response_time_ns, o.exchange)) FILTER (WHERE e.exchange IS NULL) IS NOT NULL
        THEN 'The broker has forgotten this producer, which was quiet for longer than it remembers one (producer.id.expiration.ms, transactional.id.expiration.ms), or it has lost its last records. Raise that time, and close the idempotent producer and create a new one.'
        ELSE 'Records were lost before they reached the broker, or two producers share a producer id: close the idempotent producer and create a new one.'
    END AS advice,
    count(*) FILTER (WHERE e.exchange IS NULL) AS weight,
    min_by(o.exchange, (o.response_time_ns, o.exchange)) FILTER (WHERE e.exchange IS NULL) AS evidence_first,
    max_by(o.exchange, (o.response_time_ns, o.exchange)) FILTER (WHERE e.exchange IS NULL) AS evidence_last,
    min(o.response_time_ns) AS first_time_ns,
    max(o.response_time_ns) AS last_time_ns
FROM refusals AS o
LEFT JOIN explained AS e ON e.exchange = o.exchange AND e.topic = o.topic AND e.partition IS NOT DISTINCT FROM o.partition
LEFT JOIN follows AS f ON f.exchange = o.exchange AND f.topic = o.topic AND f.partition = o.partition
WHERE o.code = error('OUT_OF_ORDER_SEQUENCE_NUMBER')
GROUP BY o.cluster, o.who, o.topic
HAVING count(*) FILTER (WHERE e.exchange IS NULL) > 0
