-- severity: medium
-- rank: 38
-- when: errors having bool_or(code IN (error('UNKNOWN_TOPIC_OR_PARTITION', 'UNKNOWN_TOPIC_ID')))
-- says: {who} {keeps} for {what} {topic}[-{partition}], which {state}, for {lasted_ns} ({times|request|requests}[; {cut|later reply to Metadata was|later replies to Metadata were} cut])[; it was there before {gone_time_ns}][; {deleted_by} had it deleted][; {later}]
-- do: {advice}
-- look: kanalyze errors --by topic[ --client {who}][ --topic {topic}]
-- explains: metadata_storm, repetition(Metadata), asks_in_vain, failing(UNKNOWN_TOPIC_OR_PARTITION|UNKNOWN_TOPIC_ID), connection_storm
-- delays: nobody
-- costs: refused(UNKNOWN_TOPIC_OR_PARTITION|UNKNOWN_TOPIC_ID), repeated
-- Where packets are cut, errors at the end of a reply are not read: `cut` is how many replies may have told the same later.
-- For more than a minute, at least 5 times in more than 10 s (5 s where no reply ever tells of it), or 20 times when it is surely
-- no start: a topic that is just being made is there by then. Told are all requests, and the time since the first that is not of a
-- start, as in the table of errors, unless it is the last. A topic was deleted whose id was named before the first of them, and
-- never after it; so was one of which a reply brought or took records before, and none after the last of them, or whose Fetch
-- waited for records (a broker that has no such topic says so at once). Then two requests tell it, for information. It was made
-- later where an id is named only after the first of them, and after the last one too; where one is named before the first and
-- after the last, only some broker's metadata are stale. Where no id tells it, replies to Produce and Fetch do. An id whose name
-- nobody told before has that by which a client at one address is refused within ten seconds, if both are all that it is refused,
-- and no other client is refused another name so. Who had it deleted is named where that was before the first refusal, within a second.
-- Some libraries' consumers (kafka-go) ask once, as they give their group its partitions, and then wait: a member that leads its group so
-- and then neither asks again nor fetches is told of after five seconds of heartbeats, and for information up to ten.
WITH refused AS (
    SELECT
        c.cluster,
        who(x) AS who,
        x.client_address,
        x.api_key,
        e.topic,
        e.topic_id,
        e.code,
        e.exchange,
        e.partition,
        x.response_time_ns AS time_ns,
        x.api_key = api('Fetch') AND x.latency_ns - coalesce(c.rtt_ns, c.to_broker_least_ns, 0) >= ms(100) AS has_waited,
        e.expected IS DISTINCT FROM true AS is_failure,
        e.expected IS false AS is_sure
    FROM errors AS e
    JOIN failed_exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE e.code IN (error('UNKNOWN_TOPIC_OR_PARTITION', 'UNKNOWN_TOPIC_ID')) AND is_client(x.role)
),
called AS (
    SELECT cluster, topic_id, min(topic) AS topic
    FROM (
        SELECT cluster, min(topic_id) FILTER (WHERE topic IS NULL) AS topic_id, min(topic) AS topic
        FROM refused
        GROUP BY cluster, who, client_address
        HAVING count(DISTINCT topic_id) FILTER (WHERE topic IS NULL) = 1 AND count(DISTINCT topic) = 1
            AND min(time_ns) FILTER (WHERE topic IS NOT NULL) - min(time_ns) FILTER (WHERE topic IS NULL) BETWEEN 0 AND s(10)
            AND min(topic) NOT IN (SELECT topic FROM topic_ids WHERE topic IS NOT NULL)
    ) AS n
    GROUP BY cluster, topic_id
    HAVING min(topic) = max(topic)
),
told AS (
    SELECT r.* REPLACE (coalesce(r.topic, n.topic, r.topic_id) AS topic), r.topic IS NULL AND n.topic IS NULL AS is_id
    FROM refused AS r
    LEFT JOIN called AS n ON n.cluster IS NOT DISTINCT FROM r.cluster AND n.topic_id = r.topic_id
),
asked_once AS (
    SELECT cluster, who, topic, code, min(client_address) AS client_address, min(exchange) AS exchange, min(time_ns) AS time_ns
    FROM told
    GROUP BY cluster, who, topic, code
    HAVING count(DISTINCT exchange) = 1 AND min(api_key) = api('Metadata')
),
-- A client may ask for many topics, once for each: its requests are summed up before.
last_asked AS (
    SELECT
        who(x) AS who,
        x.client_address,
        max(x.request_time_ns) AS last_ns,
        max(x.request_time_ns) FILTER (WHERE x.api_key IN (api('Metadata', 'Fetch', 'Produce'))) AS used_ns,
        max(x.request_time_ns) FILTER (WHERE x.api_key = api('SyncGroup')) AS synced_ns,
        max(x.request_time_ns) FILTER (WHERE x.api_key = api('Heartbeat')) AS beat_ns
    FROM exchanges AS x
    WHERE x.client_address IN (SELECT client_address FROM asked_once)
    GROUP BY who(x), x.client_address
),
waiting AS (
    SELECT DISTINCT o.exchange AS asked, l.last_ns AS until_ns
    FROM asked_once AS o JOIN last_asked AS l ON l.who = o.who AND l.client_address = o.client_address
    WHERE coalesce(l.used_ns < o.time_ns, true) AND l.synced_ns >= o.time_ns AND l.beat_ns - o.time_ns >= s(5)
),
missed AS (
    SELECT
        cluster,
        who,
        topic,
        code,
        -- Of an id that found its name here: what it cost is known by the id.
        max(topic_id) AS topic_id,
        count(DISTINCT exchange) AS times,
        -- Told where all errors name the same one.
        CASE WHEN count(partition) = count(*) AND min(partition) = max(partition) THEN min(partition) END AS partition,
        max(time_ns) - CASE WHEN count(DISTINCT exchange) FILTER (WHERE is_failure) = 1 THEN min(time_ns)
            ELSE min(time_ns) FILTER (WHERE is_failure) END AS lasted_ns,
        min_by(exchange, (time_ns, exchange)) AS evidence_first,
        max_by(exchange, (time_ns, exchange)) AS evidence_last,
        min(time_ns) AS first_time_ns,
        max(time_ns) AS last_time_ns,
        max(until_ns) AS until_ns,
        bool_or(has_waited) AS has_waited,
        bool_and(is_id) AS is_id,
        max(time_ns) - min(time_ns) > s(60) OR count(DISTINCT exchange) FILTER (WHERE is_sure) >= 20
            OR (count(DISTINCT exchange) >= 5 AND max(time_ns) - min(time_ns) > s(10)) AS is_long,
        count(DISTINCT exchange) >= 5 AND max(time_ns) - min(time_ns) > s(5) AS is_asked_for
    FROM told LEFT JOIN waiting ON asked = exchange
    GROUP BY cluster, who, topic, code
    HAVING (count(*) FILTER (WHERE is_failure) > 0 AND count(DISTINCT exchange) >= 2) OR max(until_ns) IS NOT NULL
),
-- Without an error: what a broker refused, or never answered, tells nothing.
used AS (
    SELECT
        c.cluster,
        coalesce(e.topic, n.topic, e.topic_id) AS topic,
        min(x.response_time_ns) AS first_ns,
        max(x.response_time_ns) AS last_ns
    FROM entries AS e
    JOIN exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    LEFT JOIN called AS n ON n.cluster IS NOT DISTINCT FROM c.cluster AND n.topic_id = e.topic_id
    WHERE x.api_key IN (api('Produce', 'Fetch')) AND e.side = 'response' AND e.partition IS NOT NULL AND no_error(e.error_code)
        AND coalesce(e.topic, n.topic, e.topic_id) IN (SELECT topic FROM missed)
    GROUP BY c.cluster, coalesce(e.topic, n.topic, e.topic_id)
),
-- The last reply that refuses one of its partitions has another one of the topic.
beside AS (
    SELECT DISTINCT m.cluster, m.who, m.topic, m.code
    FROM missed AS m
    JOIN entries AS e ON e.exchange = m.evidence_last AND (e.topic = m.topic OR e.topic_id IN (m.topic, m.topic_id))
    WHERE e.side = 'response' AND e.partition IS NOT NULL AND no_error(e.error_code)
),
gone AS (
    SELECT m.cluster, m.who, m.topic, m.code
    FROM missed AS m
    JOIN topic_ids AS t ON t.cluster = m.cluster AND (t.topic = m.topic OR t.topic_id = m.topic)
    WHERE t.first_time_ns < m.first_time_ns
    GROUP BY m.cluster, m.who, m.topic, m.code, m.first_time_ns
    HAVING max(t.last_time_ns) <= m.first_time_ns
    UNION
    SELECT m.cluster, m.who, m.topic, m.code
    FROM missed AS m LEFT JOIN used AS u ON u.cluster IS NOT DISTINCT FROM m.cluster AND u.topic = m.topic
    WHERE (m.has_waited OR u.first_ns < m.first_time_ns) AND coalesce(u.last_ns <= m.last_time_ns, true)
),
-- `is_back`: made later; else the same topic was there before and after.
back_by_id AS (
    SELECT
        m.cluster, m.who, m.topic, m.code,
        coalesce(max(t.last_time_ns) FILTER (WHERE t.first_time_ns <= m.first_time_ns) <= m.first_time_ns, true) AS is_back
    FROM missed AS m
    JOIN topic_ids AS t ON t.cluster = m.cluster AND t.topic = m.topic
    GROUP BY m.cluster, m.who, m.topic, m.code, m.first_time_ns, m.last_time_ns
    HAVING max(t.last_time_ns) FILTER (WHERE t.first_time_ns > m.first_time_ns) >= m.last_time_ns
        OR max(t.last_time_ns) FILTER (WHERE t.first_time_ns <= m.first_time_ns) >= m.last_time_ns
),
back AS (
    SELECT m.cluster, m.who, m.topic, m.code, p.topic IS NULL AND coalesce(b.is_back, u.first_ns >= m.first_time_ns) AS is_back
    FROM missed AS m
    LEFT JOIN back_by_id AS b ON b.cluster = m.cluster AND b.who = m.who AND b.topic = m.topic AND b.code = m.code
    LEFT JOIN used AS u ON u.cluster IS NOT DISTINCT FROM m.cluster AND u.topic = m.topic
    LEFT JOIN beside AS p ON p.cluster IS NOT DISTINCT FROM m.cluster AND p.who = m.who AND p.topic = m.topic AND p.code = m.code
    WHERE b.topic IS NOT NULL OR u.last_ns > m.last_time_ns OR p.topic IS NOT NULL
),
deleted AS (
    SELECT m.cluster, m.who, m.topic, m.code, max_by(d.deleted_by, d.time_ns) AS deleted_by
    FROM missed AS m
    JOIN deleted_topics AS d ON d.cluster IS NOT DISTINCT FROM m.cluster AND (d.topic = m.topic OR d.topic_id IN (m.topic, m.topic_id))
    WHERE d.time_ns <= m.first_time_ns + s(1)
    GROUP BY m.cluster, m.who, m.topic, m.code
)
SELECT
    m.who,
    m.topic,
    m.topic_id,
    CASE WHEN b.is_back IS false AND m.partition IS NOT NULL THEN 'partition' WHEN p.topic IS NOT NULL THEN 'partitions of' ELSE 'topic' END AS what,
    CASE WHEN b.is_back IS false THEN m.partition END AS partition,
    m.times,
    CASE WHEN m.until_ns IS NULL THEN 'keeps asking' ELSE 'waits in its group' END AS keeps,
    coalesce(m.until_ns - m.first_time_ns, m.lasted_ns) AS lasted_ns,
    (SELECT nullif(count(*), 0) FROM exchanges AS x
        WHERE x.api_key = api('Metadata') AND who(x) = m.who AND x.response_decoded = 'truncated' AND x.response_time_ns > m.last_time_ns)
        AS cut,
    CASE WHEN g.topic IS NOT NULL AND p.topic IS NULL THEN m.first_time_ns END AS gone_time_ns,
    CASE WHEN b.is_back IS false AND m.partition IS NOT NULL THEN 'brokers do not know, although other replies name the topic'
        WHEN p.topic IS NOT NULL THEN 'brokers do not know, although they have others of this topic'
        WHEN b.is_back IS false THEN 'other replies name' ELSE 'does not exist' END AS state,
    CASE WHEN b.is_back IS NOT false THEN d.deleted_by END AS deleted_by,
    CASE WHEN b.is_back THEN 'it is there at the end' END AS later,
    CASE
        WHEN p.topic IS NOT NULL AND m.partition IS NULL
            THEN 'See how many partitions the topic has (kafka-topics.sh --describe): this client was given more by hand, or knows them from a topic of this name that had more.'
        WHEN b.is_back IS false AND m.partition IS NOT NULL
            THEN 'See whether this partition exists (kafka-topics.sh --describe): the client may have been given its number by hand, or know it from a topic of this name that had more partitions. If it exists, the brokers that do not know it have old metadata (see their logs), or this client may not describe the topic: brokers then answer so too.'
        WHEN b.is_back IS false
            THEN 'The topic exists: before and after, replies name it. The brokers that do not know it have old metadata (see their logs), or this client may not describe it: brokers then answer so too.'
        WHEN b.is_back
            THEN 'Nothing is left to create: the topic is there since. Find out why it was missing: who deleted it (the log of the controller), or whether its clients began before it was made.'
        WHEN d.topic IS NOT NULL
            THEN 'The topic was deleted on request (DeleteTopics) while this client used it, or was to: create it again (kafka-topics.sh --create), or stop this client.'
        WHEN g.topic IS NOT NULL
            THEN 'The topic was deleted while it was in use: find out by whom (the log of the controller), create it again (kafka-topics.sh --create), or stop this client.'
        WHEN m.is_id
            THEN 'Brokers give ids to topics: the one that this client knew was deleted, or deleted and made again under its name. See whether the topic is there (kafka-topics.sh --list), create it if it is not, and restart this client, which holds the old id.'
        WHEN m.until_ns IS NOT NULL
            THEN 'Create the topic (kafka-topics.sh --create), or correct its name in the configuration of this client; then restart this client, which does not ask again.'
        ELSE 'Create the topic (kafka-topics.sh --create), or correct its name in the configuration of this client.'
    END AS advice,
    CASE
        WHEN NOT (m.is_long OR m.is_asked_for OR coalesce(m.until_ns - m.first_time_ns >= impact('stuck_ns'), false)) THEN 'info'
    END AS severity,
    coalesce(m.until_ns, m.last_time_ns) - m.first_time_ns AS weight,
    m.evidence_first,
    m.evidence_last,
    m.first_time_ns,
    coalesce(m.until_ns, m.last_time_ns) AS last_time_ns
FROM missed AS m
LEFT JOIN gone AS g ON g.cluster IS NOT DISTINCT FROM m.cluster AND g.who = m.who AND g.topic = m.topic AND g.code = m.code
LEFT JOIN beside AS p ON p.cluster IS NOT DISTINCT FROM m.cluster AND p.who = m.who AND p.topic = m.topic AND p.code = m.code
LEFT JOIN back AS b ON b.cluster IS NOT DISTINCT FROM m.cluster AND b.who = m.who AND b.topic = m.topic AND b.code = m.code
LEFT JOIN deleted AS d ON d.cluster IS NOT DISTINCT FROM m.cluster AND d.who = m.who AND d.topic = m.topic AND d.code = m.code
-- A topic that moves is unknown to a broker for a moment.
WHERE m.is_long OR (b.topic IS NULL AND (g.topic IS NOT NULL OR m.is_asked_for OR m.until_ns IS NOT NULL))
