-- Who does not fetch what it is assigned? One row per group, client and topic: `partitions` were not fetched for
-- `waited_ns`.
-- Only partitions that this capture shows being fetched at some other time, so that their leader's traffic is in it, and only
-- for as long as the member is seen: one that went, and time that nobody captured, say nothing.
WITH held AS (
    SELECT
        cluster,
        group_id,
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
        h.who,
        h.client_id,
        h.client_address,
        h.topic,
        h.partition,
        h.exchange,
        h.time_ns,
        coalesce(h.until_ns, l.last_ns) AS read_until_ns,
        least(coalesce(h.until_ns, l.last_ns), l.last_ns) AS until_ns
    FROM held AS h
    JOIN present AS l ON l.client_address = h.client_address AND l.client_id IS NOT DISTINCT FROM h.client_id
    WHERE least(coalesce(h.until_ns, l.last_ns), l.last_ns) - h.time_ns >= s(60)
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
visible AS (
    SELECT DISTINCT cluster, topic, partition FROM reads
),
checked AS (
    SELECT h.group_id, h.who, h.topic, h.partition, h.exchange, h.time_ns, h.until_ns, count(r.time_ns) AS fetches
    FROM lasting AS h
    JOIN visible AS v
        ON v.cluster IS NOT DISTINCT FROM h.cluster AND v.topic = h.topic AND v.partition = h.partition
    LEFT JOIN reads AS r
        ON r.cluster IS NOT DISTINCT FROM h.cluster AND r.topic = h.topic AND r.partition = h.partition
        AND r.client_id IS NOT DISTINCT FROM h.client_id AND r.client_address = h.client_address
        AND r.time_ns >= h.time_ns AND r.time_ns < h.read_until_ns
    GROUP BY
        h.group_id, h.who, h.topic, h.partition, h.exchange, h.time_ns, h.until_ns, h.read_until_ns
)
SELECT
    group_id,
    who,
    topic,
    count(*) AS partitions,
    max(until_ns - time_ns) AS waited_ns,
    max(until_ns - time_ns) AS weight,
    min_by(exchange, (time_ns, exchange)) AS evidence_assignment,
    min(time_ns) AS first_time_ns,
    max(until_ns) AS last_time_ns
FROM checked
WHERE fetches = 0
GROUP BY group_id, who, topic
