-- What did a member of a group not ask for, though it was there? One row a client and partition: `records` written since its last Fetch,
-- thirty at least. Who has a Fetch under way does ask. Or one row a client, of the longest of its `pauses` that ended: nobody of its group
-- asked for anything, its heartbeats went on, and the next Fetch was answered at once, with `given_bytes` (32 kB at least). That shows in
-- packets that are cut, too, whose partitions and positions nobody knows. `refusal`: how its last Fetch of the partition was answered,
-- where that broker did not lead it any more; whoever hears that must ask another one, and this client asks none.
WITH asking AS (
    SELECT x.client_address, x.client_id
    FROM pending_requests AS p JOIN exchanges AS x ON x.exchange = p.exchange
    WHERE x.api_key = api('Fetch')
    GROUP BY x.client_address, x.client_id
),
refused AS (
    SELECT x.client_address, x.client_id, coalesce(e.topic, e.topic_id) AS topic, e.partition, max(x.response_time_ns) AS at_ns, max(e.name) AS name
    FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
    WHERE x.api_key = api('Fetch') AND e.code IN (error('NOT_LEADER_OR_FOLLOWER', 'FENCED_LEADER_EPOCH', 'UNKNOWN_LEADER_EPOCH'))
    GROUP BY x.client_address, x.client_id, coalesce(e.topic, e.topic_id), e.partition
),
pauses AS (
    SELECT
        p.cluster,
        p.group_id,
        p.begin_ns,
        p.end_ns,
        g.client_address,
        g.client_id,
        count(*) FILTER (WHERE h.api_name = 'Heartbeat') AS beats,
        count(*) FILTER (WHERE h.api_name <> 'Heartbeat') AS others
    FROM fetch_pauses AS p
    JOIN client_groups AS g ON g.cluster = p.cluster AND g.group_id = p.group_id
    JOIN exchanges AS h
        ON h.group_id = p.group_id AND h.client_address = g.client_address AND coalesce(h.client_id, '') = g.client_id
        AND h.request_time_ns BETWEEN p.begin_ns AND p.end_ns AND h.api_name IN ('Heartbeat', 'JoinGroup', 'LeaveGroup')
    WHERE p.end_ns - p.begin_ns >= impact('stuck_ns')
    GROUP BY p.cluster, p.group_id, p.begin_ns, p.end_ns, g.client_address, g.client_id
)
SELECT
    who(i) AS who,
    i.client_address,
    i.group_id,
    'has not asked for' AS asked,
    i.topic,
    i.partition,
    i.until_ns - i.since_ns AS idle_ns,
    CAST(NULL AS BIGINT) AS pauses,
    CAST(sum(p.records) AS BIGINT) AS records,
    CAST(NULL AS BIGINT) AS given_bytes,
    'go on' AS going,
    r.name AS refusal,
    CASE WHEN r.name IS NULL
        THEN 'The client is slower than its producers, or something holds up its poll loop: look at how long it works on its records (max.poll.records), and whether it has paused the partition.'
        ELSE 'The leader of the partition moved, and this client did not follow: see whether it reaches the new leader, and whether it asks for metadata; else its library is stuck, and a restart or an upgrade helps.'
    END AS advice,
    CASE WHEN r.name IS NOT NULL THEN 'medium' END AS severity,
    CAST(sum(p.records) AS BIGINT) AS weight,
    min_by(p.exchange, (p.request_time_ns, p.exchange)) AS evidence_first,
    max_by(p.exchange, (p.request_time_ns, p.exchange)) AS evidence_last,
    i.since_ns AS first_time_ns,
    i.until_ns AS last_time_ns
FROM idle_readers AS i
JOIN produced AS p ON p.topic = i.topic AND p.partition = i.partition AND p.request_time_ns > i.since_ns
JOIN connections AS c ON c.connection = p.connection AND c.cluster IS NOT DISTINCT FROM i.cluster
LEFT JOIN asking AS a ON a.client_address = i.client_address AND a.client_id IS NOT DISTINCT FROM i.client_id
LEFT JOIN refused AS r
    ON r.client_address = i.client_address AND r.client_id IS NOT DISTINCT FROM i.client_id AND r.topic = i.topic
    AND r.partition = i.partition AND r.at_ns >= i.since_ns
WHERE a.client_address IS NULL
GROUP BY i.client_id, i.client_address, i.group_id, i.topic, i.partition, i.since_ns, i.until_ns, r.name
HAVING sum(p.records) >= 30
UNION ALL
SELECT
    who(x) AS who,
    x.client_address,
    p.group_id,
    'asked for nothing' AS asked,
    CAST(NULL AS STRING) AS topic,
    CAST(NULL AS INT) AS partition,
    max(p.end_ns - p.begin_ns) AS idle_ns,
    nullif(count(*), 1) AS pauses,
    CAST(NULL AS BIGINT) AS records,
    CAST(max_by(x.response_bytes, (p.end_ns - p.begin_ns, x.exchange)) AS BIGINT) AS given_bytes,
    'went on' AS going,
    CAST(NULL AS STRING) AS refusal,
    'The client is slower than its producers, or something holds up its poll loop: look at how long it works on its records (max.poll.records), and whether it has paused the partition.' AS advice,
    CAST(NULL AS STRING) AS severity,
    CAST(max_by(x.response_bytes, (p.end_ns - p.begin_ns, x.exchange)) AS BIGINT) AS weight,
    max_by(x.exchange, (p.end_ns - p.begin_ns, x.exchange)) AS evidence_first,
    CAST(NULL AS BIGINT) AS evidence_last,
    min(p.begin_ns) AS first_time_ns,
    max(p.end_ns) AS last_time_ns
FROM pauses AS p
JOIN exchanges AS x
    ON x.client_address = p.client_address AND coalesce(x.client_id, '') = p.client_id AND x.request_time_ns = p.end_ns
    AND x.api_key = api('Fetch')
WHERE p.beats >= 3 AND p.others = 0 AND x.latency_ns < ms(100) AND x.response_bytes >= 32000
GROUP BY p.cluster, p.group_id, who(x), x.client_address
