-- Which groups had committed offsets that are no longer there? One row per group and topic: the coordinator gave or took an offset of
-- these partitions (`last_offset` of the first of them, known `before_ns` ago), then answered a member that there is none, and this client
-- began to read at `began_offset`: behind that (`ahead` records are left out, of all partitions) or before it (`behind` are read again).
-- A request for several groups names none and does not count; who asks and does not read then, as tools do, is left out. `deleted_by`: a
-- client that had offsets, groups or topics of this cluster deleted in between; after topics nobody knows whether the offsets are of the
-- same records. Clusters may have groups and topics of the same names: an unknown one is taken for as wide as the broker that was asked.
WITH told AS (
    SELECT
        c.cluster AS known_cluster,
        coalesce(c.cluster, concat(x.broker_address, ':', CAST(x.broker_port AS STRING))) AS cluster,
        x.group_id,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        x.exchange,
        x.connection,
        x.client_address,
        x.client_id,
        x.response_time_ns AS time_ns,
        CASE WHEN e.offset >= 0 THEN e.offset END AS committed_offset,
        e.offset = -1 AS is_none
    FROM entries AS e
    JOIN exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_key = api('OffsetFetch') AND e.side = 'response'
        AND x.status = 'answered' AND x.request_decoded = 'full' AND x.response_decoded = 'full' AND coalesce(x.error_count, 0) = 0
        AND x.group_id IS NOT NULL AND e.partition IS NOT NULL
),
-- What they had committed before, at last over each connection.
taken AS (
    SELECT
        c.cluster AS known_cluster,
        coalesce(c.cluster, concat(c.broker_address, ':', CAST(c.broker_port AS STRING))) AS cluster,
        k.group_id,
        k.topic,
        k.partition,
        k.exchange,
        k.connection,
        k.client_address,
        k.client_id,
        k.committed_time_ns AS time_ns,
        k.committed_offset,
        false AS is_none
    FROM commit_sums AS k JOIN connections AS c ON c.connection = k.connection
    WHERE k.group_id IN (SELECT group_id FROM told WHERE is_none)
),
followed AS (
    SELECT
        *,
        lag(committed_offset IGNORE NULLS) OVER in_time AS last_offset,
        lag(CASE WHEN committed_offset IS NOT NULL THEN time_ns END IGNORE NULLS) OVER in_time AS last_ns,
        lag(CASE WHEN committed_offset IS NOT NULL THEN exchange END IGNORE NULLS) OVER in_time AS last_exchange
    FROM (SELECT * FROM told UNION ALL SELECT * FROM taken) AS known
    WINDOW in_time AS (PARTITION BY cluster, group_id, topic, partition ORDER BY time_ns, exchange)
),
lost AS (
    SELECT *
    FROM followed
    WHERE is_none AND last_offset IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY cluster, group_id, topic, partition ORDER BY time_ns, exchange) = 1
),
-- Where its client went on.
began AS (
    SELECT l.exchange, l.group_id, l.topic, l.partition, min_by(p.fetch_offset, (p.time_ns, p.exchange)) AS began_offset
    FROM lost AS l
    JOIN exchanges AS x
        ON x.client_address = l.client_address AND x.client_id IS NOT DISTINCT FROM l.client_id AND x.request_time_ns > l.time_ns
    JOIN fetch_positions AS p
        ON p.exchange = x.exchange AND coalesce(p.topic, p.topic_id) = l.topic AND p.partition = l.partition
    WHERE x.api_key = api('Fetch') AND is_client(x.role) AND p.fetch_offset >= 0 AND coalesce(p.cluster = l.known_cluster, true)
    GROUP BY l.exchange, l.group_id, l.topic, l.partition
),
deleted AS (
    SELECT l.exchange, l.group_id, min(who(x)) AS deleted_by, bool_or(x.api_key = api('DeleteTopics')) AS of_topics
    FROM lost AS l
    JOIN connections AS c ON c.cluster = l.known_cluster
    JOIN exchanges AS x
        ON x.connection = c.connection AND x.api_key IN (api('DeleteGroups', 'OffsetDelete', 'DeleteTopics'))
        AND x.request_time_ns BETWEEN l.last_ns AND l.time_ns
    WHERE x.status = 'answered' AND coalesce(x.error_count, 0) = 0
    GROUP BY l.exchange, l.group_id
)
SELECT
    l.group_id,
    l.topic,
    count(*) AS partitions,
    min_by(who(l), (l.time_ns, l.exchange)) AS who,
    min_by(l.client_address, (l.time_ns, l.exchange)) AS client_address,
    min_by(l.last_offset, l.partition) AS last_offset,
    min_by(l.time_ns - l.last_ns, l.partition) AS before_ns,
    min_by(b.began_offset, l.partition) AS began_offset,
    nullif(TRY_CAST(sum(CAST(greatest(b.began_offset - l.last_offset, 0) AS DECIMAL(38, 0))) FILTER (WHERE d.of_topics IS NOT TRUE) AS BIGINT), 0)
        AS ahead,
    nullif(TRY_CAST(sum(CAST(greatest(l.last_offset - b.began_offset, 0) AS DECIMAL(38, 0))) FILTER (WHERE d.of_topics IS NOT TRUE) AS BIGINT), 0)
        AS behind,
    max(d.deleted_by) AS deleted_by,
    min_by(l.connection, (l.time_ns, l.exchange)) AS connection,
    count(*) AS weight,
    min_by(l.last_exchange, l.partition) AS evidence_before,
    min_by(l.exchange, l.partition) AS evidence_none,
    min(l.time_ns) AS first_time_ns,
    max(l.time_ns) AS last_time_ns
FROM lost AS l
JOIN began AS b ON b.exchange = l.exchange AND b.group_id = l.group_id AND b.topic = l.topic AND b.partition = l.partition
LEFT JOIN deleted AS d ON d.exchange = l.exchange AND d.group_id = l.group_id
GROUP BY l.cluster, l.group_id, l.topic
HAVING bool_or(b.began_offset <> l.last_offset)
