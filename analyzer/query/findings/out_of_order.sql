-- severity: high
-- rank: 20
-- when: errors having bool_or(code = error('OUT_OF_ORDER_SEQUENCE_NUMBER'))
-- says: {who} sent batches out of sequence to topic {topic}, {times|time|times}: the broker rejected them (OUT_OF_ORDER_SEQUENCE_NUMBER)
-- do: Records were lost before they reached the broker, or two producers share a producer id: close the idempotent producer and create a new one.
-- look: kanalyze errors --by topic[ --client {who}][ --topic {topic}]
-- explains: resent_batches, failing(UNKNOWN_PRODUCER_ID|INVALID_PRODUCER_ID_MAPPING|INVALID_TXN_STATE)
-- costs: refused(OUT_OF_ORDER_SEQUENCE_NUMBER)
-- After another batch of the partition was refused, those already on their way are out of order too, and the producer sends all of
-- them again: such refusals alone are not told. 120 s is the usual delivery.timeout.ms, for which a producer tries.
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
)
SELECT
    o.who,
    o.topic,
    count(*) AS times,
    count(*) FILTER (WHERE e.exchange IS NULL) AS weight,
    min_by(o.exchange, (o.response_time_ns, o.exchange)) FILTER (WHERE e.exchange IS NULL) AS evidence_first,
    max_by(o.exchange, (o.response_time_ns, o.exchange)) FILTER (WHERE e.exchange IS NULL) AS evidence_last,
    min(o.response_time_ns) AS first_time_ns,
    max(o.response_time_ns) AS last_time_ns
FROM refusals AS o
LEFT JOIN explained AS e ON e.exchange = o.exchange AND e.topic = o.topic AND e.partition IS NOT DISTINCT FROM o.partition
WHERE o.code = error('OUT_OF_ORDER_SEQUENCE_NUMBER')
GROUP BY o.cluster, o.who, o.topic
HAVING count(*) FILTER (WHERE e.exchange IS NULL) > 0
