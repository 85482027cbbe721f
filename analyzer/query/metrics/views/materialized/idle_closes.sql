-- Connections that the broker closed because nothing came, and that their client used again: one row a client and broker.
-- The broker's FIN after 5 s or more without traffic, and a request on that connection a second or more after it: a client that writes
-- at the same moment cannot know. Of TLS without keys sizes and times tell the same. A broker that stops closes its connections too:
-- then those that were in use, or not idle for as long, end with these, or new ones are refused.
WITH ended AS (
    SELECT connection, client_address, broker_address, broker_port, close_time_ns
    FROM connections
    WHERE closed_by = 'broker' AND last_time_ns - close_time_ns >= s(1) AND close_time_ns - first_time_ns >= s(5)
        AND is_client(role)
),
-- What came before the end and after it.
used AS (
    SELECT
        e.connection,
        e.client_address,
        e.broker_address,
        e.broker_port,
        e.close_time_ns,
        max(CASE WHEN x.request_time_ns <= e.close_time_ns THEN greatest(
            coalesce(x.request_end_ns, x.request_time_ns),
            CASE WHEN x.response_time_ns <= e.close_time_ns THEN coalesce(x.response_end_ns, x.response_time_ns) ELSE 0 END
        ) END) AS quiet_ns,
        min(CASE WHEN x.request_time_ns > e.close_time_ns THEN x.request_time_ns END) AS asked_ns,
        min_by(x.exchange, (x.request_time_ns, x.exchange)) FILTER (WHERE x.request_time_ns > e.close_time_ns) AS exchange,
        min(who(x)) AS who
    FROM ended AS e JOIN exchanges AS x ON x.connection = e.connection
    WHERE x.request_time_ns IS NOT NULL
    GROUP BY e.connection, e.client_address, e.broker_address, e.broker_port, e.close_time_ns
    UNION ALL
    SELECT
        e.connection,
        e.client_address,
        e.broker_address,
        e.broker_port,
        e.close_time_ns,
        max(u.begin_ns) AS quiet_ns,
        min(u.asked_time_ns) AS asked_ns,
        CAST(NULL AS BIGINT) AS exchange,
        e.client_address AS who
    FROM ended AS e JOIN unread_silences AS u ON u.connection = e.connection
    WHERE u.begin_ns < e.close_time_ns AND u.asked_time_ns > e.close_time_ns
    GROUP BY e.connection, e.client_address, e.broker_address, e.broker_port, e.close_time_ns
),
told AS (
    SELECT *, close_time_ns - quiet_ns AS idle_ns, asked_ns - close_time_ns AS later_ns
    FROM used
    WHERE asked_ns - close_time_ns >= s(1) AND close_time_ns - quiet_ns >= s(5)
),
-- Brokers that were stopped: they refused someone soon after, or closed within a second a connection that was idle for another time.
stopped AS (
    SELECT t.connection
    FROM told AS t JOIN connections AS c ON c.broker_address = t.broker_address AND c.broker_port = t.broker_port
    WHERE never_answered(c) AND c.close = 'rst'
        AND c.first_time_ns BETWEEN t.close_time_ns - s(1) AND t.asked_ns + s(10)
    UNION
    SELECT t.connection
    FROM told AS t
    JOIN connections AS c ON c.broker_address = t.broker_address AND c.broker_port = t.broker_port
    JOIN exchanges AS x ON x.connection = c.connection
    WHERE c.closed_by = 'broker' AND c.close_time_ns BETWEEN t.close_time_ns - s(1) AND t.close_time_ns + s(1)
        AND coalesce(x.response_end_ns, x.response_time_ns) <= c.close_time_ns
    GROUP BY t.connection, t.idle_ns, c.connection, c.close_time_ns
    HAVING abs(c.close_time_ns - max(coalesce(x.response_end_ns, x.response_time_ns)) - t.idle_ns) >= s(1)
)
SELECT
    t.broker_address || ':' || CAST(t.broker_port AS STRING) AS broker,
    t.client_address,
    t.who,
    count(*) AS times,
    CASE WHEN count(*) = 1 THEN 'it' ELSE 'them' END AS them,
    min(t.idle_ns) AS idle_ns,
    min(t.later_ns) AS later_ns,
    count(*) AS weight,
    min_by(t.exchange, (t.asked_ns, t.connection)) AS evidence_first,
    min_by(t.connection, (t.asked_ns, t.connection)) AS connection,
    min(t.asked_ns) AS first_time_ns,
    max(t.asked_ns) AS last_time_ns
FROM told AS t LEFT JOIN (SELECT connection FROM stopped GROUP BY connection) AS s ON s.connection = t.connection
WHERE s.connection IS NULL
GROUP BY t.broker_address, t.broker_port, t.client_address, t.who
