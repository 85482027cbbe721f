-- Times in which no packet got through, one row a client.
-- For 3 s and more no reply to any client of a host, though requests had come that do not wait by design, and then their replies on the
-- same connections: all of these had packets that were sent again, three at least. A host whose processes stand still
-- acknowledges, so nothing would be sent again to a broker that is only slow. Of TLS without keys it is told where the capture shows
-- what the client sent again (`unread_silences`): in the midst of work no connection of the host had an answer. Behind it what
-- the client sent in vain is missing in the numbers of its packets: on two connections at once, of one of which no other packet is missing.
-- The line was dead at most from the last packet before to the first one after. TCP tries again after twice the time, each time
-- (RFC 6298, 5.5): the try before the one that succeeded failed when half of the time since the first had passed.
-- That is known beside the client, where every try is seen.
-- Where the line went dead between two requests none waits: the broker sent its last reply again five times and more, for as long as
-- so many tries take at least (3 s), and the client, at work before, had three times as much to send in the second after. Or all that
-- was sent again was the client's, and lost before the capture: its packets skip numbers once, as those of no other connection do, and the
-- first one after 3 s and more of silence has three requests in it, as TCP joins what it sends again; or, where the client has one
-- under way at a time, comes when TCP tries again (after 0.2 s at first, and then after twice the time), and the client goes on as before.
-- Or its client gave it up meanwhile, and
-- asks on newer connections for a second and more, when what TCP still sent again on it comes at last, and is reset.
-- To the end of the capture (`until`) a line is dead over which a request was sent again three times, 3 s and more after it, on a connection
-- that was not idle for long before (a path may drop idle ones), when no broker has sent this host anything for 10 s, though other hosts
-- had replies of this broker meanwhile. Where no other host is seen a request must have been sent again five times: then the line is dead,
-- large packets are lost, or the broker's host is gone (`alone`).
WITH resent AS (
    SELECT connection, client_address, capture_side
    FROM connections
    WHERE is_kafka AND is_client(role) AND client_retransmitted + broker_retransmitted >= 3
        AND one_way IS NULL
),
hosts AS (
    SELECT client_address FROM resent GROUP BY client_address
),
replies AS (
    SELECT
        x.client_address,
        x.response_time_ns AS end_ns,
        lag(x.response_time_ns) OVER (PARTITION BY x.client_address ORDER BY x.response_time_ns, x.exchange) AS begin_ns
    FROM exchanges AS x JOIN hosts AS h ON h.client_address = x.client_address
    WHERE x.response_time_ns IS NOT NULL
),
silent AS (
    SELECT client_address, begin_ns, end_ns FROM replies WHERE end_ns - begin_ns >= s(3)
),
waited AS (
    SELECT
        s.client_address,
        s.begin_ns,
        s.end_ns,
        min(who(x)) AS who,
        min(x.broker_address || ':' || CAST(x.broker_port AS STRING)) AS broker,
        count(DISTINCT x.broker_address || ':' || CAST(x.broker_port AS STRING)) AS brokers,
        min(x.request_end_ns) AS first_request_ns,
        CASE WHEN min(coalesce(r.capture_side, 'broker')) = 'client'
            THEN CAST(max(x.request_end_ns + (x.response_time_ns - x.request_end_ns) / 2) - min(x.request_end_ns) - ms(100) AS BIGINT) END AS least_ns,
        min_by(x.exchange, (x.request_end_ns, x.exchange)) AS exchange
    FROM silent AS s
    JOIN exchanges AS x ON x.client_address = s.client_address
    LEFT JOIN resent AS r ON r.connection = x.connection
    LEFT JOIN kinds AS k ON k.kind = x.kind
    WHERE x.request_end_ns BETWEEN s.begin_ns AND s.end_ns - s(3) AND x.response_time_ns >= s.end_ns
        AND coalesce(k.reach, 'broker') = 'broker'
    GROUP BY s.client_address, s.begin_ns, s.end_ns
    HAVING count(*) = count(r.connection)
),
-- Connections whose sender tried again and again: the broker, for so long at least, or the client, unseen.
tried AS (
    SELECT
        connection,
        client_address,
        broker_retransmitted < 5 AS is_unseen,
        CASE WHEN broker_retransmitted < 5 THEN s(3)
            ELSE 2e8 * (power(2, least(broker_retransmitted, 20) - 1) - 1) END AS least_ns,
        CASE WHEN broker_retransmitted < 5 AND close = 'rst' AND closed_by = 'client' THEN close_time_ns END AS given_up_ns,
        (SELECT count(*) FROM all_connections WHERE client_missing_ids > 0 OR broker_missing_ids > 0) = 1 AS is_alone
    FROM connections
    WHERE is_kafka AND is_client(role) AND one_way IS NULL AND (
        (broker_retransmitted >= 5 AND broker_needless <= 2)
        OR (broker_retransmitted = 0 AND client_retransmitted = 0 AND client_missing_ids = 1 AND client_gaps = 0
            AND (is_alone OR given_up_ns IS NOT NULL))
    )
),
-- What these hosts sent, and the next that they sent.
sent AS (
    SELECT
        x.connection,
        x.exchange,
        x.client_id,
        x.client_address,
        x.broker_address,
        x.broker_port,
        x.request_time_ns,
        x.response_time_ns,
        x.request_bytes,
        lead(x.request_time_ns) OVER (PARTITION BY x.client_address ORDER BY x.request_time_ns, x.exchange) AS next_ns,
        lead(x.request_time_ns) OVER (PARTITION BY x.connection ORDER BY x.request_time_ns, x.exchange) AS last_ns
    FROM exchanges AS x
    WHERE x.request_time_ns IS NOT NULL AND is_client(x.role) AND x.client_address IN (SELECT client_address FROM tried)
),
unheard AS (
    SELECT
        s.client_address,
        s.response_time_ns AS begin_ns,
        s.next_ns AS end_ns,
        who(s) AS who,
        s.broker_address || ':' || CAST(s.broker_port AS STRING) AS broker,
        s.exchange
    FROM sent AS s
    JOIN tried AS r ON r.connection = s.connection AND s.next_ns - s.response_time_ns >= r.least_ns
    JOIN sent AS x ON x.client_address = s.client_address
        AND x.request_time_ns BETWEEN s.request_time_ns - s(5) AND s.next_ns + s(1)
    GROUP BY
        s.client_address, s.request_time_ns, s.response_time_ns, s.next_ns, s.last_ns, who(s), s.broker_address, s.broker_port, s.exchange,
        r.is_unseen, r.is_alone, r.given_up_ns
    HAVING count(*) FILTER (WHERE x.request_time_ns <= s.request_time_ns) >= 10 AND (
        (r.given_up_ns - s.last_ns < s(1) AND s.last_ns - s.next_ns >= s(1))
        OR (sum(x.request_bytes) FILTER (WHERE x.request_time_ns >= s.next_ns) * 5
                >= sum(x.request_bytes) FILTER (WHERE x.request_time_ns <= s.request_time_ns) * 3
            AND (NOT r.is_unseen OR (r.is_alone AND count(*) FILTER (WHERE x.request_time_ns = s.next_ns) >= 3)))
        OR (r.is_unseen AND r.is_alone AND s.last_ns = s.next_ns
            AND count(*) FILTER (WHERE x.request_time_ns >= s.next_ns) * 10 >= count(*) FILTER (WHERE x.request_time_ns <= s.request_time_ns)
            -- Of the tries so far, as many as fit, the last one has just been made: no pause of another sort ends so.
            AND s.next_ns - s.request_time_ns - s(5) / count(*) FILTER (WHERE x.request_time_ns <= s.request_time_ns) <= 1e8
                + 2.2e8 * (power(2, floor(log2(1 + (
                    s.next_ns - s.request_time_ns - s(5) / count(*) FILTER (WHERE x.request_time_ns <= s.request_time_ns)
                ) / 2e8))) - 1)))
),
dead AS (
    SELECT client_address, begin_ns, end_ns, who, broker, brokers, first_request_ns, least_ns, exchange FROM waited
    UNION ALL
    SELECT client_address, begin_ns, end_ns, who, broker, 1, begin_ns, CAST(NULL AS BIGINT), exchange FROM unheard
),
served AS (
    SELECT w.client_address, w.begin_ns, count(DISTINCT x.client_address) AS others
    FROM dead AS w JOIN all_exchanges AS x
        ON x.client_address <> w.client_address
        AND x.response_time_ns BETWEEN w.first_request_ns + ms(500) AND w.end_ns - ms(500)
    WHERE is_client(x.role)
    GROUP BY w.client_address, w.begin_ns
),
asked_last AS (
    SELECT
        x.client_address,
        x.broker_address,
        x.broker_port,
        who(x) AS who,
        x.exchange,
        x.request_end_ns,
        p.until_ns,
        c.client_retransmitted AS resent
    FROM pending_requests AS p
    JOIN exchanges AS x ON x.exchange = p.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE p.is_lost AND p.until_ns - x.request_end_ns >= impact('stuck_ns') AND is_client(c.role) AND c.close = 'none'
        AND c.one_way IS NULL AND c.client_retransmitted >= 3 AND c.last_time_ns - x.request_end_ns >= s(3) AND c.replies > 0
),
-- When each of these hosts had heard of a broker last.
heard AS (
    SELECT a.client_address, max(x.response_time_ns) AS last_ns
    FROM (SELECT DISTINCT client_address FROM asked_last) AS a JOIN exchanges AS x ON x.client_address = a.client_address
    GROUP BY a.client_address
),
dead_at_end AS (
    SELECT
        a.client_address,
        min(a.who) AS who,
        min(a.broker_address || ':' || CAST(a.broker_port AS STRING)) AS broker,
        count(DISTINCT a.broker_address || ':' || CAST(a.broker_port AS STRING)) AS brokers,
        min(a.request_end_ns) AS begin_ns,
        max(a.until_ns) AS end_ns,
        max(a.resent) AS resent,
        min_by(a.exchange, (a.request_end_ns, a.exchange)) AS evidence_first,
        max_by(a.exchange, (a.request_end_ns, a.exchange)) AS evidence_last
    FROM asked_last AS a JOIN heard AS h ON h.client_address = a.client_address
    GROUP BY a.client_address
    HAVING max(h.last_ns) < min(a.request_end_ns) AND min(a.request_end_ns) - max(h.last_ns) < s(30)
),
dead_beside AS (
    SELECT d.client_address, count(DISTINCT x.client_address) AS others
    FROM dead_at_end AS d
    LEFT JOIN all_exchanges AS x
        ON x.client_address <> d.client_address AND x.broker_address || ':' || CAST(x.broker_port AS STRING) = d.broker
        AND x.response_time_ns BETWEEN d.begin_ns + s(3) AND d.end_ns AND is_client(x.role)
    WHERE NOT EXISTS (
            SELECT 1 FROM all_connections AS c
            WHERE c.client_address = d.client_address AND c.first_time_ns > d.begin_ns AND c.broker_packets > 0
        )
        -- Over a dead line nothing is sent for long without being sent again; Produce with acks=0 has no reply that tells.
        AND NOT EXISTS (
            SELECT 1 FROM all_exchanges AS y JOIN all_connections AS c ON c.connection = y.connection
            WHERE y.client_address = d.client_address AND y.request_time_ns BETWEEN d.begin_ns AND d.end_ns - s(3)
                AND c.client_retransmitted = 0
        )
        AND (x.exchange IS NOT NULL
            OR (d.resent >= 5 AND NOT EXISTS (SELECT 1 FROM all_connections AS c WHERE c.client_address <> d.client_address)))
    GROUP BY d.client_address
),
-- A connection at work: the broker had sent something in the second before, as it did in most of the seconds of the connection.
unread AS (
    SELECT u.client_address, u.broker_address, u.broker_port, u.connection, u.begin_ns, u.asked_time_ns, u.end_ns
    FROM (
        -- `silent_ns`: the other silences of the connection that ended.
        SELECT
            *,
            coalesce(sum(end_ns - begin_ns) OVER (PARTITION BY connection), 0) - coalesce(end_ns - begin_ns, 0) AS silent_ns
        FROM unread_silences
    ) AS u
    JOIN connections AS c ON c.connection = u.connection
    WHERE u.end_ns - u.asked_time_ns >= s(3) AND u.asked_time_ns - u.begin_ns < s(1)
        AND c.client_retransmitted >= 3 AND c.one_way IS NULL AND u.broker_port <> 443
        AND u.silent_ns < (c.last_time_ns - c.first_time_ns - (u.end_ns - u.begin_ns)) / 2
),
-- Connections of the host that lived then, and those of them that were silent for three seconds.
unread_dead AS (
    SELECT w.client_address, w.connection, w.begin_ns, w.asked_time_ns, w.end_ns, w.broker_address, w.broker_port
    FROM unread AS w
    JOIN connections AS c
        ON c.client_address = w.client_address AND c.protocol = 'tls' AND c.broker_port <> 443 AND c.broker_stream_bytes > 0
        AND c.first_time_ns < w.asked_time_ns AND c.last_time_ns > w.asked_time_ns + s(3)
    LEFT JOIN unread_silences AS u
        ON u.connection = c.connection AND u.begin_ns <= w.asked_time_ns + ms(500)
        AND (u.end_ns IS NULL OR u.end_ns >= w.asked_time_ns + s(3))
    GROUP BY w.client_address, w.connection, w.begin_ns, w.asked_time_ns, w.end_ns, w.broker_address, w.broker_port
    HAVING count(DISTINCT c.connection) = count(DISTINCT u.connection)
),
-- Silences of both sides that ended when the client spoke again, on connections that miss a packet of the client for each of them.
spoke_last AS (
    SELECT u.*, count(*) OVER (PARTITION BY u.connection) AS silences, c.client_missing_ids
    FROM unread_silences AS u JOIN connections AS c ON c.connection = u.connection
    WHERE u.end_ns - u.begin_ns >= s(1) AND u.asked_time_ns - u.begin_ns >= s(1)
        AND u.end_ns - u.asked_time_ns < ms(500)
        AND c.one_way IS NULL AND u.broker_port <> 443 AND c.client_missing_ids > 0
),
unread_cut AS (
    SELECT a.client_address, a.broker_address, a.broker_port, a.connection, a.begin_ns, a.end_ns,
        min(CASE WHEN b.end_ns - b.begin_ns < a.end_ns - a.begin_ns THEN b.end_ns - b.begin_ns ELSE a.end_ns - a.begin_ns END)
            AS silent_ns
    FROM spoke_last AS a
    JOIN spoke_last AS b ON b.client_address = a.client_address AND b.connection <> a.connection
        AND b.begin_ns BETWEEN a.begin_ns - ms(500) AND a.begin_ns + ms(500)
        AND b.end_ns BETWEEN a.end_ns - s(2) AND a.end_ns + s(2)
    WHERE a.client_missing_ids BETWEEN a.silences AND a.silences + 1
    GROUP BY a.client_address, a.broker_address, a.broker_port, a.connection, a.begin_ns, a.end_ns
)
SELECT
    w.client_address,
    min(w.who) AS who,
    min(w.broker) AS broker,
    nullif(max(w.brokers) - 1, 0) AS other_brokers,
    max_by(w.least_ns, w.end_ns - w.begin_ns) AS least_ns,
    CASE WHEN max_by(w.least_ns, w.end_ns - w.begin_ns) IS NULL THEN 'at most' END AS at_most,
    max(w.end_ns - w.begin_ns) AS silent_ns,
    CAST(NULL AS STRING) AS until,
    -- One reply between two silences does not make two of them.
    count(*) FILTER (WHERE w.before_ns IS NULL OR w.begin_ns - w.before_ns >= s(1)) AS times,
    max(s.others) AS others,
    CAST(NULL AS STRING) AS alone,
    CAST(NULL AS STRING) AS unread,
    CAST(NULL AS BIGINT) AS connection,
    max(w.end_ns - w.first_request_ns) AS weight,
    min_by(w.exchange, (w.begin_ns, w.exchange)) AS evidence_first,
    max_by(w.exchange, (w.end_ns, w.exchange)) AS evidence_last,
    min(w.begin_ns) AS first_time_ns,
    max(w.end_ns) AS last_time_ns
FROM (
    SELECT *, lag(end_ns) OVER (PARTITION BY client_address ORDER BY begin_ns) AS before_ns FROM dead
) AS w
LEFT JOIN served AS s ON s.client_address = w.client_address AND s.begin_ns = w.begin_ns
GROUP BY w.client_address
UNION ALL
SELECT
    d.client_address,
    d.who,
    d.broker,
    nullif(d.brokers - 1, 0) AS other_brokers,
    CAST(NULL AS BIGINT) AS least_ns,
    CAST(NULL AS STRING) AS at_most,
    d.end_ns - d.begin_ns AS silent_ns,
    'to the end of the capture' AS until,
    1 AS times,
    nullif(b.others, 0) AS others,
    CASE WHEN b.others = 0 THEN 'or large packets alone are lost, or the broker is gone: no other client is seen' END AS alone,
    CAST(NULL AS STRING) AS unread,
    CAST(NULL AS BIGINT) AS connection,
    d.end_ns - d.begin_ns AS weight,
    d.evidence_first,
    d.evidence_last,
    d.begin_ns AS first_time_ns,
    d.end_ns AS last_time_ns
FROM dead_at_end AS d JOIN dead_beside AS b ON b.client_address = d.client_address
UNION ALL
SELECT
    client_address,
    CAST(NULL AS STRING) AS who,
    min(broker_address || ':' || CAST(broker_port AS STRING)) AS broker,
    nullif(count(DISTINCT broker_address || ':' || CAST(broker_port AS STRING)) - 1, 0) AS other_brokers,
    CAST(max_by(end_ns - asked_time_ns, end_ns - begin_ns) / 2 - ms(100) AS BIGINT) AS least_ns,
    CAST(NULL AS STRING) AS at_most,
    max(end_ns - begin_ns) AS silent_ns,
    CAST(NULL AS STRING) AS until,
    count(DISTINCT floor(asked_time_ns / s(10))) AS times,
    CAST(NULL AS BIGINT) AS others,
    CAST(NULL AS STRING) AS alone,
    'judged by sizes and times, as it is TLS without keys' AS unread,
    min_by(connection, (asked_time_ns, connection)) AS connection,
    max(end_ns - asked_time_ns) AS weight,
    CAST(NULL AS BIGINT) AS evidence_first,
    CAST(NULL AS BIGINT) AS evidence_last,
    min(begin_ns) AS first_time_ns,
    max(end_ns) AS last_time_ns
FROM unread_dead
GROUP BY client_address
UNION ALL
SELECT
    client_address,
    CAST(NULL AS STRING) AS who,
    min(broker_address || ':' || CAST(broker_port AS STRING)) AS broker,
    nullif(count(DISTINCT broker_address || ':' || CAST(broker_port AS STRING)) - 1, 0) AS other_brokers,
    CAST(NULL AS BIGINT) AS least_ns,
    'at most' AS at_most,
    max(silent_ns) AS silent_ns,
    CAST(NULL AS STRING) AS until,
    max(times) AS times,
    CAST(NULL AS BIGINT) AS others,
    CAST(NULL AS STRING) AS alone,
    'judged by sizes and times, as it is TLS without keys' AS unread,
    min_by(connection, (begin_ns, connection)) AS connection,
    max(end_ns - begin_ns) AS weight,
    CAST(NULL AS BIGINT) AS evidence_first,
    CAST(NULL AS BIGINT) AS evidence_last,
    min(begin_ns) AS first_time_ns,
    max(end_ns) AS last_time_ns
FROM (SELECT *, count(*) OVER (PARTITION BY connection) AS times FROM unread_cut) AS u
GROUP BY client_address
HAVING CAST(max(silent_ns) AS DOUBLE) * max(times) >= s(3)
