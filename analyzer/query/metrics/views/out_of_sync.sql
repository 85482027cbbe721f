-- Which brokers fell out of the ISR, as the leaders told the controller (AlterPartition)? One row per broker that two leaders or more
-- dropped (`follower`), or per pair of brokers; one per leader that dropped several within 15 s, which is then the likelier cause.
-- `times`: of the partition that was dropped most often; `longest_ns`: until the follower was back, or as long as that leader was heard
-- (null: packets are missing); `away` partitions were not back when the capture ended.
-- A drop is seen where the ISR before it is known, which is where the leader changes the partition's next epoch, and nobody was added; or
-- where the leader is left alone and one other broker holds the partition; or, of the first change seen, where the broker had read to the
-- end of the partition two seconds before, on a connection that went on: such a one is in sync, as a leader adds it at once. What a
-- controller itself takes out of the ISR, as a broker that stops or was fenced, is in no such request, but counts an epoch. Filters choose
-- among drops: what was before and after is always read.
WITH told AS (
    SELECT
        coalesce(e.cluster, k.cluster) AS cluster,
        -- Numbers of brokers and names of topics mean the same within it.
        coalesce(e.cluster, k.cluster, c.broker_address) AS realm,
        coalesce(e.topic, e.topic_id) AS topic,
        coalesce(e.topic_id, e.topic) AS topic_key,
        e.partition,
        e.broker_id AS leader,
        e.client_address AS leader_address,
        e.exchange,
        e.time_ns,
        c.client_address AS from_address,
        c.broker_address AS controller_address,
        CAST(e.partition_epoch AS BIGINT) AS partition_epoch,
        string_split(e.isr, ',') AS isr,
        string_split(coalesce(e.asked_isr, e.isr), ',') AS asked_isr
    FROM all_broker_events AS e
    JOIN all_connections AS c ON c.connection = e.connection
    LEFT JOIN host_clusters AS k ON k.host = e.client_address
    WHERE e.event = 'isr' AND e.error_code = error('NONE') AND e.isr <> ''
    -- Two capture points saw the same change.
    QUALIFY row_number() OVER (
        PARTITION BY coalesce(e.cluster, k.cluster, c.broker_address), coalesce(e.topic_id, e.topic), e.partition, e.partition_epoch, e.isr
        ORDER BY e.time_ns, e.exchange
    ) = 1
),
-- Who had read to the end of a partition, when first, and until when that connection to the host of the leader was open.
readers AS (
    SELECT
        x.connection,
        x.broker_address AS leader_address,
        CAST(max(x.replica_id) AS STRING) AS member,
        max(CASE WHEN c.close = 'none' THEN max_bigint() ELSE c.last_time_ns END) AS until_ns
    FROM all_exchanges AS x JOIN all_connections AS c ON c.connection = x.connection
    WHERE x.kind = 'fetch_follower' AND x.replica_id >= 0
    GROUP BY x.connection, x.broker_address
),
read_to_end AS (
    SELECT
        l.leader_address,
        l.member,
        l.until_ns,
        coalesce(q.topic, q.topic_id) AS topic,
        q.partition,
        min(x.response_time_ns) AS caught_up_ns
    FROM all_entries AS q
    JOIN all_entries AS r ON r.exchange = q.exchange AND r.partition = q.partition AND r.side = 'response'
        AND coalesce(r.topic_id, r.topic) = coalesce(q.topic_id, q.topic)
    JOIN all_exchanges AS x ON x.exchange = q.exchange
    JOIN readers AS l ON l.connection = x.connection
    WHERE q.side = 'request' AND q."offset" >= r.high_watermark
    GROUP BY l.connection, l.leader_address, l.member, l.until_ns, coalesce(q.topic, q.topic_id), q.partition
),
-- No partition has more than 64 replicas; hostile bytes may name so many that each change would cost millions of rows.
members AS (
    SELECT realm, topic_key, partition, list(DISTINCT member) AS members
    FROM (SELECT realm, topic_key, partition, unnest(isr) AS member FROM told)
    GROUP BY realm, topic_key, partition
    HAVING count(DISTINCT member) <= 64
),
changes AS (
    SELECT
        t.*,
        m.members,
        lag(t.exchange) OVER sequence IS NULL AS is_first,
        CASE WHEN lag(t.partition_epoch) OVER sequence + 1 = t.partition_epoch THEN lag(t.isr) OVER sequence END AS before
    FROM told AS t
    JOIN members AS m ON m.realm = t.realm AND m.topic_key = t.topic_key AND m.partition = t.partition
    WINDOW sequence AS (PARTITION BY t.realm, t.topic_key, t.partition ORDER BY t.time_ns, t.exchange)
),
losses AS (
    SELECT * EXCLUDE (before, members), unnest(coalesce(before, members)) AS member
    FROM changes
    WHERE CASE WHEN before IS NULL THEN len(isr) = 1 AND len(members) = 2 ELSE list_has_all(before, isr) END
        AND exchange IN (SELECT exchange FROM broker_events WHERE event = 'isr')
    UNION BY NAME
    SELECT c.* EXCLUDE (before, members), u.member
    FROM changes AS c
    JOIN read_to_end AS u ON u.leader_address = c.leader_address AND u.partition = c.partition AND u.topic = c.topic
    WHERE c.is_first AND NOT list_contains(c.asked_isr, u.member) AND u.caught_up_ns < c.time_ns - s(2) AND u.until_ns > c.time_ns
        AND c.exchange IN (SELECT exchange FROM broker_events WHERE event = 'isr')
),
marks AS (
    SELECT * EXCLUDE (isr), false AS is_in FROM losses WHERE NOT list_contains(isr, member)
    UNION ALL BY NAME
    SELECT realm, topic_key, partition, time_ns, exchange, unnest(isr) AS member, true AS is_in FROM changes
),
walked AS (
    SELECT
        *,
        min(CASE WHEN is_in THEN time_ns END) OVER (
            PARTITION BY realm, topic_key, partition, member ORDER BY time_ns, exchange
            ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ) AS back_ns
    FROM marks
),
-- Until when a leader's messages to a controller can be seen: it may go on with another one.
heard AS (
    SELECT
        client_address,
        broker_address,
        max(last_time_ns) AS until_ns,
        max(client_gap_bytes + broker_gap_bytes) > 0 AS has_gaps
    FROM all_connections
    WHERE role = 'controller'
    GROUP BY client_address, broker_address
),
drops AS (
    SELECT
        w.*,
        CASE WHEN w.back_ns IS NOT NULL THEN w.back_ns WHEN NOT h.has_gaps THEN greatest(h.until_ns, w.time_ns) END AS known_ns
    FROM walked AS w
    LEFT JOIN heard AS h ON h.client_address = w.from_address AND h.broker_address = w.controller_address
    WHERE NOT w.is_in
),
pairs AS (
    SELECT
        *,
        count(*) OVER (PARTITION BY realm, member, leader, topic_key, partition) AS times,
        CASE WHEN count(DISTINCT leader) OVER (PARTITION BY realm, member) = 1 THEN leader END AS of_leader
    FROM drops
),
sides AS (
    SELECT
        *,
        CASE WHEN of_leader IS NULL OR min(member) OVER near = max(member) OVER near THEN member END AS of_member
    FROM pairs
    WINDOW near AS (PARTITION BY realm, of_leader ORDER BY time_ns RANGE BETWEEN s(15) PRECEDING AND s(15) FOLLOWING)
),
-- Where brokers are, as their own requests to others tell.
hosts AS (
    SELECT c.cluster, CAST(f.replica_id AS STRING) AS member, min(f.client_address) AS address
    FROM (
        SELECT DISTINCT connection, replica_id, client_address
        FROM all_exchanges
        WHERE kind = 'fetch_follower' AND replica_id >= 0
    ) AS f
    JOIN all_connections AS c ON c.connection = f.connection
    GROUP BY c.cluster, f.replica_id
    HAVING count(DISTINCT f.client_address) = 1
),
placed AS (
    SELECT s.*, h.address, CASE WHEN s.of_member IS NULL THEN s.leader_address ELSE h.address END AS host
    FROM sides AS s LEFT JOIN hosts AS h ON h.member = s.of_member AND h.cluster IS NOT DISTINCT FROM s.cluster
)
SELECT
    s.cluster,
    s.of_member || coalesce(' (' || s.address || ')', '') AS follower,
    CAST(s.of_leader AS STRING) || ' (' || min(s.leader_address) || ')' AS leader,
    s.host,
    min(l.broker) AS broker,
    CASE WHEN s.of_member IS NULL THEN count(DISTINCT s.member) END AS followers,
    nullif(count(DISTINCT s.leader), 1) AS leaders,
    count(DISTINCT hash(s.topic_key, s.partition)) AS partitions,
    CASE WHEN count(DISTINCT s.topic_key) = 1 THEN min(s.topic) END AS topic,
    max(s.times) AS times,
    max(s.known_ns - s.time_ns) AS longest_ns,
    bool_and(s.back_ns IS NOT NULL) AS is_over,
    nullif(count(DISTINCT hash(s.topic_key, s.partition))
        FILTER (WHERE s.back_ns IS NULL AND s.known_ns >= r.last_time_ns - s(10)), 0) AS away,
    min_by(s.exchange, (s.time_ns, s.exchange)) AS evidence_first,
    max_by(s.exchange, (s.time_ns, s.exchange)) AS evidence_last,
    min(s.time_ns) AS first_time_ns,
    max(coalesce(s.known_ns, s.time_ns)) AS last_time_ns
FROM placed AS s
CROSS JOIN all_time_range AS r
LEFT JOIN client_listeners AS l ON l.broker_address = s.host
GROUP BY s.cluster, s.realm, s.of_member, s.of_leader, s.address, s.host
