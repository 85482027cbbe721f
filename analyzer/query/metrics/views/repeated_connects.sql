-- Brokers to which connections are made at the second try or later: one row a broker. The first SYN of a connection had no answer, so
-- its client sent it again after a second, and more. Five at least, and one in ten of its connections; `longest_ns`: until the first
-- request, which follows the handshake at once.
WITH tried AS (
    SELECT
        c.connection,
        c.client_address,
        c.broker_address,
        c.broker_port,
        c.first_time_ns,
        c.syn_ack_ns IS NULL AND c.broker_packets > 0 AS is_unsure
    FROM connections AS c
    WHERE c.seen_from = 'syn' AND c.is_kafka AND is_client(c.role) AND c.one_way IS NULL AND c.forwarded_from IS NULL
),
asked AS (
    SELECT t.connection, min(who(x)) AS who, min(x.request_time_ns) - min(t.first_time_ns) AS waited_ns
    FROM tried AS t JOIN exchanges AS x ON x.connection = t.connection
    WHERE t.is_unsure
    GROUP BY t.connection
)
SELECT
    t.broker_address || ':' || CAST(t.broker_port AS STRING) AS broker,
    count(*) FILTER (WHERE a.waited_ns >= ms(900)) AS times,
    count(*) AS connections,
    CASE WHEN min(a.who) FILTER (WHERE a.waited_ns >= ms(900)) = max(a.who) FILTER (WHERE a.waited_ns >= ms(900))
        THEN max(a.who) FILTER (WHERE a.waited_ns >= ms(900)) END AS who,
    max(a.waited_ns) AS longest_ns,
    count(*) FILTER (WHERE a.waited_ns >= ms(900)) AS weight,
    max_by(t.connection, (a.waited_ns, t.connection)) FILTER (WHERE a.waited_ns IS NOT NULL) AS connection,
    min(t.first_time_ns) FILTER (WHERE a.waited_ns >= ms(900)) AS first_time_ns,
    max(t.first_time_ns + a.waited_ns) FILTER (WHERE a.waited_ns >= ms(900)) AS last_time_ns
FROM tried AS t LEFT JOIN asked AS a ON a.connection = t.connection
GROUP BY t.broker_address, t.broker_port
HAVING count(*) FILTER (WHERE a.waited_ns >= ms(900)) >= 5
    AND count(*) FILTER (WHERE a.waited_ns >= ms(900)) * 10 >= count(*)
