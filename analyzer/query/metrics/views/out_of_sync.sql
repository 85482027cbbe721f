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
        broker_id AS leader,
        client_address AS leader_address,
        exchange,
        time_ns,
        string_split(isr, ',') AS isr
    FROM broker_events
    WHERE event = 'isr' AND error_code = error('NONE') AND isr <> ''
),
-- No partition has so many replicas that this leaves one out; bytes that mean no harm do not name more.
members AS (
    SELECT cluster, topic, partition, list(DISTINCT member) AS members
    FROM (SELECT cluster, topic, partition, unnest(isr) AS member FROM told)
    GROUP BY cluster, topic, partition
    HAVING count(DISTINCT member) <= 64
),
steps AS (
    SELECT t.*, unnest(m.members) AS member
    FROM told AS t
    JOIN members AS m ON m.cluster IS NOT DISTINCT FROM t.cluster AND m.topic = t.topic AND m.partition = t.partition
),
walked AS (
    SELECT
        *,
        lag(list_contains(isr, member)) OVER sequence AS was_in_sync,
        min(CASE WHEN list_contains(isr, member) THEN time_ns END) OVER (
            PARTITION BY cluster, topic, partition, member ORDER BY time_ns, exchange
            ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ) AS back_ns
    FROM steps
    WINDOW sequence AS (PARTITION BY cluster, topic, partition, member ORDER BY time_ns, exchange)
),
drops AS (
    SELECT * FROM walked WHERE NOT list_contains(isr, member) AND coalesce(was_in_sync, len(isr) = 1)
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
