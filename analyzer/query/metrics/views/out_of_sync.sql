-- Which brokers fell out of the ISR, as the leaders told the controller (AlterPartition)? One row per broker that two leaders or more
-- dropped (`follower`); else one per leader that dropped several, which is then the likelier cause, or per pair of brokers. `times`:
-- of the partition that was dropped most often; `longest_ns`: until the follower was back, or the capture ended (`away` partitions).
-- A drop is seen where the ISR before it had the broker, or is now its leader alone, to which nobody can have been added. What a
-- controller itself takes out of the ISR, as a broker that stops or was fenced, is in no such request.
WITH told AS (
    SELECT
        cluster,
        coalesce(topic, topic_id) AS topic,
        partition,
        broker_id,
        client_address,
        exchange,
        time_ns,
        string_split(isr, ',') AS isr,
        lag(string_split(isr, ',')) OVER sequence AS before_isr
    FROM broker_events
    WHERE event = 'isr' AND error_code = error('NONE') AND isr <> ''
    WINDOW sequence AS (PARTITION BY cluster, coalesce(topic, topic_id), partition ORDER BY time_ns, exchange)
),
members AS (
    SELECT DISTINCT cluster, topic, partition, unnest(isr) AS member FROM told
),
drops AS (
    SELECT
        t.cluster,
        t.topic,
        t.partition,
        t.broker_id AS leader,
        t.client_address AS leader_address,
        m.member,
        t.exchange,
        t.time_ns,
        (
            SELECT min(b.time_ns) FROM told AS b
            WHERE b.cluster IS NOT DISTINCT FROM t.cluster AND b.topic = t.topic AND b.partition = t.partition
                AND b.time_ns > t.time_ns AND list_contains(b.isr, m.member)
        ) AS back_ns
    FROM told AS t
    JOIN members AS m ON m.cluster IS NOT DISTINCT FROM t.cluster AND m.topic = t.topic AND m.partition = t.partition
    WHERE NOT list_contains(t.isr, m.member)
        AND CASE WHEN t.before_isr IS NULL THEN len(t.isr) = 1 ELSE list_contains(t.before_isr, m.member) END
),
pairs AS (
    SELECT
        *,
        count(*) OVER (PARTITION BY cluster, member, leader, topic, partition) AS times,
        count(DISTINCT leader) OVER (PARTITION BY cluster, member) > 1 AS is_of_follower,
        coalesce(back_ns, (SELECT max(last_time_ns) FROM all_time_range)) - time_ns AS away_ns
    FROM drops
),
sides AS (
    SELECT
        *,
        CASE WHEN NOT is_of_follower THEN leader END AS of_leader,
        CASE WHEN is_of_follower OR count(DISTINCT member) FILTER (WHERE NOT is_of_follower) OVER (PARTITION BY cluster, leader) = 1
            THEN member END AS of_member
    FROM pairs
),
-- Where brokers are, as their own requests to others tell.
hosts AS (
    SELECT CAST(replica_id AS STRING) AS member, min(client_address) AS address
    FROM all_exchanges
    WHERE kind = 'fetch_follower' AND replica_id >= 0
    GROUP BY replica_id
    HAVING count(DISTINCT client_address) = 1
),
placed AS (
    SELECT s.*, h.address, CASE WHEN s.of_member IS NULL THEN s.leader_address ELSE h.address END AS host
    FROM sides AS s LEFT JOIN hosts AS h ON h.member = s.of_member
)
SELECT
    s.cluster,
    s.of_member || coalesce(' (' || s.address || ')', '') AS follower,
    CAST(s.of_leader AS STRING) || ' (' || min(s.leader_address) || ')' AS leader,
    s.host,
    min(l.broker) AS broker,
    CASE WHEN s.of_member IS NULL THEN count(DISTINCT s.member) END AS followers,
    nullif(count(DISTINCT s.leader), 1) AS leaders,
    count(DISTINCT hash(s.topic, s.partition)) AS partitions,
    CASE WHEN count(DISTINCT s.topic) = 1 THEN min(s.topic) END AS topic,
    max(s.times) AS times,
    max(s.away_ns) AS longest_ns,
    nullif(count(DISTINCT hash(s.topic, s.partition)) FILTER (WHERE s.back_ns IS NULL), 0) AS away,
    min_by(s.exchange, (s.time_ns, s.exchange)) AS evidence_first,
    max_by(s.exchange, (s.time_ns, s.exchange)) AS evidence_last,
    min(s.time_ns) AS first_time_ns,
    max(coalesce(s.back_ns, s.time_ns + s.away_ns)) AS last_time_ns
FROM placed AS s
LEFT JOIN client_listeners AS l ON l.broker_address = s.host
GROUP BY s.cluster, s.of_member, s.of_leader, s.address, s.host
