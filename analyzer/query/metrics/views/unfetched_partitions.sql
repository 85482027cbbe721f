-- Who does not fetch what it is assigned? One row per group, client and topic of a cluster: `partitions` were not fetched for
-- `waited_ns`.
-- Only partitions of which a fetch of the member would be in the capture: they are fetched at some other time, or written to a
-- broker that this member asks other things; and only for as long as the member is seen: one that went, and time that nobody
-- captured, say nothing. Unless the leader of a group gives partitions to members that went before, as static ones keep their place until
-- their session ends (`is_gone`, one row a group and topic), and nobody reads these. `knows_no_offsets`: a broker told it that ListOffsets v0 is gone, and it asks neither for offsets nor records.
WITH held AS (
    SELECT
        cluster,
        group_id,
        member_id,
        who() AS who,
        client_id,
        client_address,
        coalesce(topic_id, topic) AS topic_key,
        coalesce(topic, topic_id) AS topic,
        partition,
        exchange,
        time_ns,
        lead(time_ns) OVER (
            PARTITION BY cluster, group_id, coalesce(topic_id, topic), partition ORDER BY time_ns, generation
        ) AS until_ns
    FROM assignments
    WHERE group_type IN ('classic', 'consumer')
),
present AS (
    SELECT client_address, client_id, max(last_request_ns) AS last_ns FROM totals GROUP BY client_address, client_id
),
lasting AS (
    SELECT
        h.cluster,
        h.group_id,
        h.member_id,
        h.who,
        h.client_id,
        h.client_address,
        h.topic,
        h.partition,
        h.exchange,
        h.time_ns,
        l.last_ns < h.time_ns AS is_gone,
        coalesce(h.until_ns, CASE WHEN l.last_ns < h.time_ns THEN t.last_time_ns ELSE l.last_ns END) AS read_until_ns,
        CASE WHEN l.last_ns < h.time_ns THEN coalesce(h.until_ns, t.last_time_ns)
            ELSE least(coalesce(h.until_ns, l.last_ns), l.last_ns) END AS until_ns
    FROM held AS h
    CROSS JOIN time_range AS t
    JOIN present AS l ON l.client_address = h.client_address AND l.client_id IS NOT DISTINCT FROM h.client_id
    WHERE CASE WHEN l.last_ns < h.time_ns THEN coalesce(h.until_ns, t.last_time_ns)
        ELSE least(coalesce(h.until_ns, l.last_ns), l.last_ns) END - h.time_ns >= s(60)
),
reads AS (
    SELECT
        p.cluster,
        x.client_address,
        x.client_id,
        coalesce(p.topic, p.topic_id) AS topic,
        p.partition,
        p.time_ns
    FROM fetch_positions AS p JOIN exchanges AS x ON x.exchange = p.exchange
    WHERE (SELECT count(*) FROM lasting) > 0
),
written AS (
    SELECT c.cluster, coalesce(e.topic, e.topic_id) AS topic, e.partition, c.broker_address, c.broker_port
    FROM entries AS e
        JOIN exchanges AS x ON x.exchange = e.exchange
        JOIN connections AS c ON c.connection = e.connection
    WHERE x.api_key = api('Produce') AND e.side = 'response' AND e.error_code = error('NONE') AND (SELECT count(*) FROM lasting) > 0
    GROUP BY ALL
),
asked AS (
    SELECT t.client_address, t.client_id, c.broker_address, c.broker_port
    FROM totals AS t JOIN connections AS c ON c.connection = t.connection
    GROUP BY ALL
),
visible AS (
    SELECT cluster, topic, partition, NULL AS client_address, NULL AS client_id FROM reads
    UNION
    SELECT w.cluster, w.topic, w.partition, a.client_address, a.client_id
    FROM written AS w JOIN asked AS a ON a.broker_address = w.broker_address AND a.broker_port = w.broker_port
),
mute AS (
    SELECT a.client_address, a.client_id
    FROM asked_versions AS a
        LEFT JOIN offered_versions AS o
            ON o.connection = a.connection AND o.api_key = api('ListOffsets') AND o.min_version > 0
    GROUP BY a.client_address, a.client_id
    HAVING count(*) FILTER (WHERE a.api_name IN ('Fetch', 'ListOffsets')) = 0 AND count(o.connection) > 0
),
checked AS (
    SELECT
        h.cluster,
        h.group_id,
        h.member_id,
        h.who,
        h.topic,
        h.partition,
        h.exchange,
        h.time_ns,
        h.until_ns,
        h.is_gone,
        EXISTS (
            FROM mute AS m WHERE m.client_address = h.client_address AND m.client_id IS NOT DISTINCT FROM h.client_id
        ) AS knows_no_offsets,
        count(r.time_ns) AS fetches
    FROM lasting AS h
    SEMI JOIN visible AS v
        ON v.cluster IS NOT DISTINCT FROM h.cluster AND v.topic = h.topic AND v.partition = h.partition
        AND (v.client_address IS NULL OR (v.client_address = h.client_address AND v.client_id IS NOT DISTINCT FROM h.client_id))
    LEFT JOIN reads AS r
        ON r.cluster IS NOT DISTINCT FROM h.cluster AND r.topic = h.topic AND r.partition = h.partition
        AND (h.is_gone OR r.client_id IS NOT DISTINCT FROM h.client_id AND r.client_address = h.client_address)
        AND r.time_ns >= h.time_ns AND r.time_ns < h.read_until_ns
    GROUP BY
        h.cluster, h.group_id, h.member_id, h.who, h.topic, h.partition, h.exchange, h.time_ns, h.until_ns, h.read_until_ns, h.is_gone,
        h.client_address, h.client_id
)
SELECT
    cluster,
    group_id,
    CASE WHEN is_gone THEN 'member ' || min(member_id) || CASE WHEN count(DISTINCT member_id) > 1 THEN ' (and others)' ELSE '' END
        ELSE min(who) END AS who,
    is_gone,
    topic,
    count(*) AS partitions,
    max(until_ns - time_ns) AS waited_ns,
    max(until_ns - time_ns) AS weight,
    bool_or(knows_no_offsets) AS knows_no_offsets,
    min_by(exchange, (time_ns, exchange)) AS evidence_assignment,
    min(time_ns) AS first_time_ns,
    max(until_ns) AS last_time_ns
FROM checked
WHERE fetches = 0
GROUP BY cluster, group_id, CASE WHEN is_gone THEN NULL ELSE who END, is_gone, topic
