-- Offsets that consumers asked for and brokers did not have, one row a client, topic and state.
-- The reply with the error tells no bounds. They come from other replies of the capture about the partition: high watermarks, and what
-- the client itself was told when it asked where to go on (ListOffsets). An end may grow beyond what was asked for, or belong to an
-- earlier topic of the name: where the client went on tells most. `deleted_by`: who had the records deleted (DeleteRecords) that were
-- asked for later, those before `deleted_to`; null where nobody is seen to name an offset, which leaves retention and who deletes all.
-- `named`: of a topic of which the id alone was read, the one topic that its client names in requests.
WITH refused AS (
    SELECT
        c.cluster,
        who(x) AS who,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        e.exchange,
        x.client_address,
        x.broker_address,
        x.broker_port,
        x.response_time_ns
    FROM errors AS e
    JOIN failed_exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE e.code = error('OFFSET_OUT_OF_RANGE') AND x.api_name = 'Fetch' AND is_client(x.role) AND coalesce(x.replica_id, -1) < 0
),
named AS (
    SELECT r.client_address, r.who, min(e.topic) AS named
    FROM (SELECT client_address, who FROM refused GROUP BY client_address, who HAVING count(DISTINCT topic) = 1) AS r
    JOIN exchanges AS x ON x.client_address = r.client_address AND who(x) = r.who
    JOIN entries AS e ON e.exchange = x.exchange
    GROUP BY r.client_address, r.who
    HAVING min(e.topic) = max(e.topic) AND max(coalesce(x.topics, 1)) = 1
),
asked AS (
    SELECT
        r.cluster,
        r.who,
        r.topic,
        r.partition,
        r.exchange,
        r.client_address,
        r.broker_address,
        r.broker_port,
        r.response_time_ns,
        max(e.offset) AS asked_offset
    FROM refused AS r LEFT JOIN entries AS e
        ON e.exchange = r.exchange AND e.side = 'request' AND e.partition = r.partition
        AND coalesce(e.topic, e.topic_id) = r.topic
    GROUP BY
        r.cluster, r.who, r.topic, r.partition, r.exchange, r.client_address, r.broker_address, r.broker_port, r.response_time_ns
),
-- Refused by one broker, while another serves the same offset to the same client: a follower that is behind.
served AS (
    SELECT a.exchange
    FROM asked AS a
    JOIN fetch_positions AS p
        ON coalesce(p.topic, p.topic_id) = a.topic AND p.partition = a.partition AND p.fetch_offset = a.asked_offset
    JOIN exchanges AS x ON x.exchange = p.exchange
    WHERE x.client_address = a.client_address AND x.status = 'answered' AND coalesce(x.error_count, 0) = 0
        AND (x.broker_address <> a.broker_address OR x.broker_port <> a.broker_port)
        AND x.response_time_ns BETWEEN a.response_time_ns AND a.response_time_ns + s(60)
    GROUP BY a.exchange
),
deletions AS (
    SELECT
        a.exchange,
        max_by(who(x), (x.response_time_ns, x.exchange)) AS deleted_by,
        max_by(e.offset, (x.response_time_ns, x.exchange)) AS deleted_to
    FROM asked AS a
    JOIN entries AS e
        ON e.topic = a.topic AND e.partition = a.partition AND e.side = 'request' AND e.offset > a.asked_offset
    JOIN entries AS d
        ON d.exchange = e.exchange AND d.topic = e.topic AND d.partition = e.partition AND d.side = 'response' AND no_error(d.error_code)
    JOIN exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_key = api('DeleteRecords') AND c.cluster IS NOT DISTINCT FROM a.cluster
        AND x.response_time_ns <= a.response_time_ns
    GROUP BY a.exchange
),
places AS (
    SELECT topic, partition FROM asked GROUP BY topic, partition
),
bounds AS (
    SELECT
        c.cluster,
        p.topic,
        p.partition,
        x.client_address,
        x.response_time_ns,
        CASE WHEN e.high_watermark >= 0 THEN e.high_watermark END AS end_offset,
        CASE WHEN x.api_name = 'ListOffsets' AND e.offset >= 0 THEN e.offset END AS told_offset
    FROM entries AS e
    JOIN places AS p ON p.topic = coalesce(e.topic, e.topic_id) AND p.partition = e.partition
    JOIN exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE e.side = 'response' AND no_error(e.error_code) AND x.api_name IN ('Fetch', 'ListOffsets')
),
judged AS (
    SELECT
        a.cluster,
        a.who,
        a.client_address,
        a.topic,
        a.partition,
        a.exchange,
        a.response_time_ns,
        a.asked_offset,
        max(b.end_offset) AS end_offset,
        max(b.end_offset) FILTER (WHERE b.response_time_ns <= a.response_time_ns) AS end_before,
        min(b.end_offset) FILTER (WHERE b.response_time_ns >= a.response_time_ns) AS end_behind,
        max(b.told_offset) AS told_offset,
        min_by(b.told_offset, b.response_time_ns) FILTER (
            WHERE b.client_address = a.client_address AND b.response_time_ns >= a.response_time_ns AND b.told_offset IS NOT NULL
        ) AS reset_offset,
        a.exchange IN (SELECT exchange FROM served) AS is_served
    FROM asked AS a LEFT JOIN bounds AS b
        ON b.cluster IS NOT DISTINCT FROM a.cluster AND b.topic = a.topic AND b.partition = a.partition
    GROUP BY a.cluster, a.who, a.client_address, a.topic, a.partition, a.exchange, a.response_time_ns, a.asked_offset
),
told AS (
    SELECT
        j.*,
        d.deleted_by,
        d.deleted_to,
        CASE
            WHEN bool_or(is_served) OVER (PARTITION BY cluster, who, topic, partition, asked_offset)
                THEN 'one broker does not have and another one serves'
            WHEN reset_offset < asked_offset THEN 'are beyond the end'
            WHEN reset_offset > asked_offset OR d.deleted_to > asked_offset THEN 'are already deleted'
            WHEN asked_offset > greatest(coalesce(end_offset, told_offset), coalesce(told_offset, end_offset))
                THEN 'are beyond the end'
            WHEN asked_offset < end_before AND asked_offset < coalesce(end_behind, end_before) THEN 'are already deleted'
            ELSE 'do not exist'
        END AS state
    FROM judged AS j LEFT JOIN deletions AS d ON d.exchange = j.exchange
)
SELECT
    t.who,
    t.topic,
    min(n.named) AS named,
    state,
    count(*) AS times,
    count(DISTINCT partition) AS partitions,
    CASE WHEN count(*) = 1 THEN max(asked_offset) END AS asked_offset,
    CASE WHEN count(*) = 1 AND state = 'are beyond the end' THEN max(end_offset) END AS end_offset,
    CASE WHEN count(*) = 1 THEN max(reset_offset) END AS reset_offset,
    deleted_by,
    CASE WHEN deleted_by IS NOT NULL AND min(deleted_to) = max(deleted_to) THEN max(deleted_to) END AS deleted_to,
    CASE
        WHEN state = 'one broker does not have and another one serves'
            THEN 'The consumer is sent to a follower (client.rack, KIP-392) that is behind its leader, or was never in sync: see which replicas are (kafka-topics.sh --describe), and take client.rack away until it has caught up.'
        WHEN deleted_by IS NOT NULL
            THEN 'Records were deleted on request (DeleteRecords, kafka-delete-records.sh) before this consumer had read them: let that wait for the committed offsets of all groups.'
        WHEN state = 'are already deleted'
            THEN 'The consumer missed what it had not read before retention (retention.ms, retention.bytes) or a DeleteRecords removed it: check its lag.'
        WHEN state = 'are beyond the end'
            THEN 'The topic was recreated, or an unclean leader election truncated it: check auto.offset.reset and the committed offsets (kafka-consumer-groups.sh --describe).'
        ELSE 'The consumer fell behind retention, or the topic was recreated: check its lag and auto.offset.reset.'
    END AS advice,
    count(*) AS weight,
    min_by(exchange, (response_time_ns, exchange)) AS evidence_first,
    max_by(exchange, (response_time_ns, exchange)) AS evidence_last,
    min(response_time_ns) AS first_time_ns,
    max(response_time_ns) AS last_time_ns
FROM (SELECT * REPLACE (CASE WHEN state = 'are already deleted' THEN deleted_by END AS deleted_by) FROM told) AS t
LEFT JOIN named AS n ON n.client_address = t.client_address AND n.who = t.who AND n.named <> t.topic
GROUP BY cluster, t.who, t.topic, state, deleted_by
