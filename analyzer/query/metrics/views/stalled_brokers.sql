-- Which brokers answered nothing for a while? One row per broker: it answered only what `answered` says, `times`
-- times, for `still_ns` at most, while `requests` of `clients` waited; `or_follower` names what else it may have been,
-- `until` says that it did not end.
-- No reply of any sort for a second or more, though requests that do not wait by design had come: 3 of them at least (2 where one
-- is a long poll that came half a second after its time, for which a broker needs nobody), on two connections, or 10 on one, or 3 behind a
-- Produce while its own requests to other brokers ceased too. Or on one connection for two seconds 3 behind a Produce, or for three seconds
-- a Produce alone in the midst of work (ten replies in the five seconds before): then it may be the disk, or a follower.
-- One of them at least waited behind no other request of its connection, and only such a one tells what it needed. Its host took the requests (a connection without a repeated segment, or
-- with one alone where a request waits for five seconds, in which a dead line repeats more, or what packets say of a request's time
-- there), so its network was there. Where all of them need other replicas, one of these may have stood still: only a long poll that
-- came back at the same moment, a request without replicas, or requests of its own to other brokers, which ceased too, show that it
-- was the broker. Where throttle times are not known (cut packets, old versions) a quota may hold one client, but not two: once in the
-- midst of work for three seconds, it is named as also possible. The request whose reply ended it may be what the capture lacks. A
-- capture may end, or begin, in the middle of it: then requests count that every broker answers at once.
-- Of TLS without keys it is told where all of a broker's connections fell silent at once: two of them at least in the midst of work, in
-- which their answers come soon, and were answered at the same moment. What waited cannot be read, so it may have been a follower's.
-- A disk that stands still holds writes alone: no Produce was answered for 1.5 s and more, though other requests were in that time,
-- and writes of two connections waited, none of them behind another, or ten. A follower that stood still would do the same where all
-- wait for replicas: not told where one ceased to fetch from this broker.
-- What two capture points that have names saw is one connection, and one request.
-- The last packet of a broker: one of several captures may end before the others.
WITH seen AS (
    SELECT broker_address, broker_port, max(last_time_ns) AS last_time_ns
    FROM connections
    GROUP BY broker_address, broker_port
),
ends AS (
    SELECT
        broker_address, broker_port, response_time_ns AS end_ns, FALSE AS lasts,
        CASE WHEN status = 'orphan_reply' THEN connection END AS unasked
    FROM exchanges
    WHERE response_time_ns IS NOT NULL
    UNION ALL
    SELECT DISTINCT x.broker_address, x.broker_port, s.last_time_ns AS end_ns, TRUE AS lasts, CAST(NULL AS BIGINT) AS unasked
    FROM exchanges AS x JOIN seen AS s ON s.broker_address = x.broker_address AND s.broker_port = x.broker_port
    WHERE x.status = 'pending'
),
replies AS (
    SELECT
        *,
        coalesce(
            lag(end_ns) OVER (PARTITION BY broker_address, broker_port ORDER BY end_ns, lasts),
            (SELECT min(first_time_ns) FROM connections)
        ) AS begin_ns
    FROM ends
),
still AS (
    SELECT broker_address, broker_port, begin_ns, end_ns, lasts, unasked
    FROM replies
    WHERE end_ns - begin_ns >= s(1)
),
-- Requests with the time that they waited, of those that no end of the capture leaves open: Produce, ListOffsets, Metadata,
-- OffsetCommit, OffsetFetch, FindCoordinator, Heartbeat, ApiVersions. The oldest of a connection waits behind no other.
asked AS (
    SELECT
        *,
        latency_ns AS waited_ns,
        coalesce(queue_ns, latency_ns) < latency_ns / 5 AS is_head,
        kind LIKE 'fetch%' AND latency_ns >= (CAST(max_wait_ms AS BIGINT) + 500) * ms(1)
            AND coalesce(queue_ns, latency_ns) < latency_ns / 5 AS is_overdue
    FROM exchanges
    WHERE status = 'answered' AND coalesce(throttle_time_ms, 0) = 0 AND coalesce(muted_ns, 0) = 0
    UNION ALL
    SELECT
        x.*,
        s.last_time_ns - x.request_end_ns AS waited_ns,
        row_number() OVER (PARTITION BY x.connection ORDER BY x.request_end_ns, x.exchange) = 1 AS is_head,
        FALSE AS is_overdue
    FROM exchanges AS x JOIN seen AS s ON s.broker_address = x.broker_address AND s.broker_port = x.broker_port
    WHERE x.status = 'pending' AND x.api_key IN (api('Produce', 'ListOffsets', 'Metadata', 'OffsetCommit',
        'OffsetFetch', 'FindCoordinator', 'Heartbeat', 'ApiVersions'))
),
polls AS (
    SELECT s.broker_address, s.broker_port, s.begin_ns, count(*) AS polls
    FROM still AS s
    JOIN exchanges AS x ON x.broker_address = s.broker_address AND x.broker_port = s.broker_port
    WHERE x.kind LIKE 'fetch%' AND x.latency_ns >= s(1) AND x.request_end_ns < s.end_ns
        AND x.response_time_ns BETWEEN s.end_ns AND s.end_ns + ms(200)
    GROUP BY s.broker_address, s.broker_port, s.begin_ns
),
-- What the broker itself asked of other brokers: before, and while it is said to stand still. Where its host has others it is not known.
own AS (
    SELECT
        s.broker_address,
        s.broker_port,
        s.begin_ns,
        count(*) FILTER (WHERE x.request_time_ns <= s.begin_ns) AS before,
        count(*) FILTER (WHERE x.request_time_ns BETWEEN s.begin_ns + ms(200) AND s.end_ns - ms(200)) AS inside
    FROM still AS s JOIN exchanges AS x
        ON x.client_address = s.broker_address AND x.request_time_ns BETWEEN s.begin_ns - s(10) AND s.end_ns
    WHERE x.role IN ('follower', 'controller', 'raft') AND s.broker_address NOT IN (SELECT host FROM shared_broker_hosts)
    GROUP BY s.broker_address, s.broker_port, s.begin_ns
),
waited AS (
    SELECT
        s.broker_address,
        s.broker_port,
        s.begin_ns,
        s.end_ns,
        s.lasts,
        min(greatest(x.request_end_ns, s.begin_ns)) AS first_request_ns,
        count(DISTINCT request_key(c, x)) AS requests,
        count(DISTINCT who(x)) AS clients,
        count(DISTINCT link_key(c)) AS connections,
        count(*) FILTER (WHERE x.throttle_time_ms IS NULL AND x.status = 'answered') AS unsure,
        count(*) FILTER (
            WHERE c.client_retransmitted <= CASE WHEN x.waited_ns >= s(5) THEN 1 ELSE 0 END OR x.broker_min_ns / 8 >= x.waited_ns / 10
        ) AS taken,
        count(*) FILTER (WHERE x.is_head OR (x.connection = s.unasked AND x.api_key = api('Produce'))) AS heads,
        count(*) FILTER (WHERE x.is_overdue) AS overdue,
        count(*) FILTER (
            WHERE x.is_head AND (x.kind IS NULL OR x.kind NOT IN ('produce_acks_all', 'produce_acks_unknown'))
                AND x.api_key NOT IN (api('OffsetCommit', 'InitProducerId', 'AddPartitionsToTxn', 'AddOffsetsToTxn',
                'EndTxn', 'TxnOffsetCommit'))
        ) AS alone,
        min_by(x.api_key, (x.request_end_ns, x.exchange)) AS first_api_key,
        s.end_ns - min(greatest(x.request_end_ns, s.begin_ns)) >= s(3) AND NOT s.lasts AND (
            SELECT count(*) FROM replies AS a
            WHERE a.broker_address = s.broker_address AND a.broker_port = s.broker_port AND a.end_ns BETWEEN s.begin_ns - s(5) AND s.begin_ns
        ) >= 10 AS is_alone,
        min_by(x.exchange, (x.request_end_ns, x.exchange)) AS evidence_first,
        max_by(x.exchange, (coalesce(x.response_time_ns, x.request_end_ns), x.exchange)) AS evidence_last,
        count(*) OVER (PARTITION BY s.broker_address, s.broker_port) AS stills
    FROM still AS s
    JOIN asked AS x ON x.broker_address = s.broker_address AND x.broker_port = s.broker_port
    JOIN connections AS c ON c.connection = x.connection
    LEFT JOIN kinds AS k ON k.kind = x.kind
    WHERE (coalesce(k.reach, 'broker') = 'broker' OR x.is_overdue)
        AND (x.request_end_ns >= s.begin_ns OR x.is_overdue) AND x.request_end_ns <= s.end_ns - ms(500)
        AND (x.response_time_ns >= s.end_ns OR (s.lasts AND x.status = 'pending' AND c.one_way IS NULL))
    GROUP BY s.broker_address, s.broker_port, s.begin_ns, s.end_ns, s.lasts
),
judged AS (
    SELECT
        w.*,
        w.connections = 1 AND w.requests < 10 AS may_be_disk,
        w.unsure > 0 AND w.clients = 1 AS may_be_quota,
        w.alone = 0 AND p.polls IS NULL AND coalesce(o.before < 10, true) AS may_be_follower
    FROM waited AS w
    LEFT JOIN own AS o
        ON o.broker_address = w.broker_address AND o.broker_port = w.broker_port AND o.begin_ns = w.begin_ns
    LEFT JOIN polls AS p
        ON p.broker_address = w.broker_address AND p.broker_port = w.broker_port AND p.begin_ns = w.begin_ns
    WHERE (w.requests >= 3 OR (w.overdue > 0 AND w.connections >= 2) OR w.is_alone) AND w.taken > 0 AND w.heads > 0 AND coalesce(o.inside, 0) = 0
        AND w.end_ns - w.first_request_ns
        >= CASE WHEN w.connections >= 2 OR w.requests >= 10 OR o.before >= 10 THEN ms(800) ELSE s(2) END
        AND (w.connections >= 2 OR w.requests >= 10 OR w.first_api_key = api('Produce'))
        AND (w.unsure = 0 OR w.clients >= 2 OR (w.is_alone AND w.stills = 1))
),
-- Writes that waited, and the times without an answer to any of them.
writes AS (
    SELECT
        broker_address,
        broker_port,
        response_time_ns AS end_ns,
        lag(response_time_ns) OVER (PARTITION BY broker_address, broker_port ORDER BY response_time_ns, exchange) AS begin_ns
    FROM exchanges
    WHERE api_key = api('Produce') AND response_time_ns IS NOT NULL
),
writes_still AS (
    SELECT
        s.broker_address,
        s.broker_port,
        s.begin_ns,
        s.end_ns,
        min(greatest(x.request_end_ns, s.begin_ns)) AS first_request_ns,
        count(DISTINCT request_key(c, x)) AS requests,
        count(DISTINCT who(x)) AS clients,
        count(DISTINCT CASE WHEN x.is_head THEN link_key(c) END) AS head_connections,
        count(*) FILTER (WHERE x.is_head AND x.kind = 'produce_acks_1') AS own,
        min_by(x.exchange, (x.request_end_ns, x.exchange)) AS evidence_first,
        max_by(x.exchange, (x.response_time_ns, x.exchange)) AS evidence_last
    FROM writes AS s
    JOIN asked AS x ON x.broker_address = s.broker_address AND x.broker_port = s.broker_port
    JOIN connections AS c ON c.connection = x.connection
    WHERE s.end_ns - s.begin_ns >= s(1.5)
        AND x.api_key = api('Produce') AND x.status = 'answered' AND x.waited_ns >= ms(500) AND no_error(x.error_code)
        AND x.request_end_ns BETWEEN s.begin_ns - ms(500) AND s.end_ns - ms(500) AND x.response_time_ns >= s.end_ns
    GROUP BY s.broker_address, s.broker_port, s.begin_ns, s.end_ns
    HAVING count(*) >= 3 AND count(*) FILTER (WHERE c.client_retransmitted = 0) > 0
        AND (count(*) FILTER (WHERE x.throttle_time_ms IS NULL) = 0 OR count(DISTINCT who(x)) >= 2)
),
-- What else the broker did meanwhile: what it answered, and which followers asked it for records, before and within that time.
writes_beside AS (
    SELECT
        s.broker_address,
        s.broker_port,
        s.begin_ns,
        count(*) FILTER (
            WHERE x.response_time_ns BETWEEN s.first_request_ns + ms(300) AND s.end_ns - ms(300) AND x.api_key <> api('Produce')
        ) AS answered,
        count(DISTINCT CASE WHEN x.kind = 'fetch_follower' THEN concat(x.client_address, ' ', x.replica_id) END) AS followers,
        count(
            DISTINCT CASE
                WHEN x.kind = 'fetch_follower' AND x.request_time_ns BETWEEN s.first_request_ns + ms(200) AND s.end_ns - ms(200)
                    THEN concat(x.client_address, ' ', x.replica_id)
            END
        ) AS following
    FROM writes_still AS s JOIN exchanges AS x
        ON x.broker_address = s.broker_address AND x.broker_port = s.broker_port
        AND x.request_time_ns BETWEEN s.begin_ns - s(5) AND s.end_ns
    GROUP BY s.broker_address, s.broker_port, s.begin_ns
),
writes_judged AS (
    SELECT s.*
    FROM writes_still AS s JOIN writes_beside AS b
        ON b.broker_address = s.broker_address AND b.broker_port = s.broker_port AND b.begin_ns = s.begin_ns
    WHERE b.answered > 0 AND b.following = b.followers AND s.end_ns - s.first_request_ns >= s(1.5)
        AND (s.head_connections >= 2 OR (s.head_connections = 1 AND s.requests >= 10))
),
-- Silences in TLS without keys. A connection at work: the broker had sent something in the second before, as it did in most of the
-- seconds of the connection.
unread AS (
    SELECT
        u.*,
        c.client_retransmitted = 0 AND coalesce(u.end_ns, s.last_time_ns) - u.asked_time_ns >= s(1) AS is_taken,
        coalesce(u.end_ns, s.last_time_ns) AS until_ns,
        u.end_ns IS NULL AS lasts,
        u.asked_time_ns - u.begin_ns < s(1) AND c.one_way IS NULL AND (u.end_ns IS NOT NULL OR c.close = 'none')
            AND u.asked_time_ns - c.first_time_ns >= s(1)
            AND u.silent_ns < (c.last_time_ns - c.first_time_ns - (coalesce(u.end_ns, s.last_time_ns) - u.begin_ns)) / 2 AS is_at_work
    FROM (
        -- `silent_ns`: the other silences of the connection that ended.
        SELECT
            *,
            coalesce(sum(end_ns - begin_ns) OVER (PARTITION BY connection), 0) - coalesce(end_ns - begin_ns, 0) AS silent_ns
        FROM unread_silences
    ) AS u
    JOIN connections AS c ON c.connection = u.connection
    JOIN seen AS s ON s.broker_address = u.broker_address AND s.broker_port = u.broker_port
),
unread_still AS (
    SELECT broker_address, broker_port, asked_time_ns AS first_request_ns, begin_ns, until_ns, lasts
    FROM unread
    WHERE is_at_work AND until_ns - asked_time_ns >= s(1)
),
-- Each begins with one connection; those of the same end are one.
unread_waited AS (
    SELECT
        s.broker_address,
        s.broker_port,
        s.until_ns AS end_ns,
        s.lasts,
        s.first_request_ns,
        s.begin_ns,
        count(*) FILTER (WHERE u.asked_time_ns IS NOT NULL) AS requests,
        count(*) FILTER (WHERE u.is_at_work AND u.until_ns <= s.until_ns + ms(300)) AS at_work,
        count(*) FILTER (WHERE u.is_taken) AS taken,
        count(DISTINCT u.client_address) AS clients,
        count(DISTINCT u.connection) AS silent,
        min_by(u.connection, (u.asked_time_ns, u.connection)) AS connection
    FROM unread_still AS s
    JOIN unread AS u ON u.broker_address = s.broker_address AND u.broker_port = s.broker_port
        AND u.begin_ns <= s.first_request_ns + ms(300) AND u.until_ns >= s.until_ns - ms(300)
    GROUP BY s.broker_address, s.broker_port, s.until_ns, s.lasts, s.first_request_ns, s.begin_ns
),
unread_judged AS (
    SELECT w.*
    FROM unread_waited AS w
    WHERE w.at_work >= 2 AND w.taken > 0 AND w.silent >= (
        SELECT count(*)
        FROM connections AS c
        WHERE c.broker_address = w.broker_address AND c.broker_port = w.broker_port AND c.broker_stream_bytes > 0
            AND c.first_time_ns < w.first_request_ns AND c.last_time_ns > w.end_ns - ms(300)
    )
),
unread_told AS (
    SELECT
        broker_address,
        broker_port,
        floor(end_ns / s(1)) AS second,
        bool_or(lasts) AS lasts,
        min(first_request_ns) AS first_request_ns,
        min(begin_ns) AS begin_ns,
        max(end_ns) AS end_ns,
        max(requests) AS requests,
        max(clients) AS clients,
        min(connection) AS connection
    FROM unread_judged
    GROUP BY broker_address, broker_port, floor(end_ns / s(1))
)
SELECT
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    broker_address AS host,
    nullif(concat_ws(', ', CASE
        WHEN bool_and(may_be_disk) THEN 'or its disk, or a follower that it waits for'
        WHEN bool_and(may_be_follower) THEN 'or a follower that it waits for'
    END, CASE WHEN bool_or(may_be_quota) THEN 'or a quota of its client' END), '') AS or_follower,
    'no request' AS answered,
    CAST(NULL AS STRING) AS unread,
    'Check the garbage collection log of the broker and its host at that time: a pause of the process or of the machine, or a full disk.' AS advice,
    'latency' AS verb,
    CASE
        WHEN bool_and(may_be_follower OR may_be_disk) OR bool_or(may_be_quota) THEN 'medium'
        WHEN count(*) = 1 AND NOT bool_or(lasts) AND max(end_ns - first_request_ns) < s(2) THEN 'medium'
        ELSE 'high'
    END AS severity,
    max(end_ns - first_request_ns) AS still_ns,
    CASE WHEN bool_or(lasts) THEN 'until the end of the capture' END AS until,
    count(*) AS times,
    CAST(sum(requests) AS BIGINT) AS requests,
    max(clients) AS clients,
    max(end_ns - first_request_ns) AS weight,
    min_by(evidence_first, (begin_ns, evidence_first)) AS evidence_first,
    max_by(evidence_last, (end_ns, evidence_last)) AS evidence_last,
    CAST(NULL AS BIGINT) AS connection,
    min(begin_ns) AS first_time_ns,
    max(end_ns) AS last_time_ns
FROM judged
GROUP BY broker_address, broker_port
UNION ALL
SELECT
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    broker_address AS host,
    CASE WHEN bool_and(own = 0) THEN 'its disk or a follower that it waits for' ELSE 'most likely its disk' END AS or_follower,
    'no Produce, though other requests' AS answered,
    CAST(NULL AS STRING) AS unread,
    'Check the disk of the log directory of this broker at that time (iostat, the kernel log, a snapshot or backup), and its followers if writes wait for them (acks=all).' AS advice,
    'latency' AS verb,
    'medium' AS severity,
    max(end_ns - first_request_ns) AS still_ns,
    CAST(NULL AS STRING) AS until,
    count(*) AS times,
    CAST(sum(requests) AS BIGINT) AS requests,
    max(clients) AS clients,
    max(end_ns - first_request_ns) AS weight,
    min_by(evidence_first, (begin_ns, evidence_first)) AS evidence_first,
    max_by(evidence_last, (end_ns, evidence_last)) AS evidence_last,
    CAST(NULL AS BIGINT) AS connection,
    min(begin_ns) AS first_time_ns,
    max(end_ns) AS last_time_ns
FROM writes_judged
GROUP BY broker_address, broker_port
UNION ALL
SELECT
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    broker_address AS host,
    'or a follower that it waits for' AS or_follower,
    'no request' AS answered,
    'judged by sizes and times, as it is TLS without keys' AS unread,
    'Check the garbage collection log of the broker and its host at that time: a pause of the process or of the machine, or a full disk.' AS advice,
    'connections' AS verb,
    'medium' AS severity,
    max(end_ns - first_request_ns) AS still_ns,
    CASE WHEN bool_or(lasts) THEN 'until the end of the capture' END AS until,
    count(*) AS times,
    CAST(sum(requests) AS BIGINT) AS requests,
    max(clients) AS clients,
    max(end_ns - first_request_ns) AS weight,
    CAST(NULL AS BIGINT) AS evidence_first,
    CAST(NULL AS BIGINT) AS evidence_last,
    min_by(connection, (begin_ns, connection)) AS connection,
    min(begin_ns) AS first_time_ns,
    max(end_ns) AS last_time_ns
FROM unread_told
GROUP BY broker_address, broker_port
