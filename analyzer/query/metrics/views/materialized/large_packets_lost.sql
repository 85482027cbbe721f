-- Ways on which large packets do not get through, one row a client, broker and side that sends them.
-- From a moment on no request above some size is answered, on connections with three packets at least that the client sent again,
-- and every smaller one is, before and after on the same host, ten at least and on a new connection too: the way is there. That large
-- requests were answered before does not speak against it: a route changed. Toward the client a reply is sent again four times at least and
-- never done, nor seen but for a window of it, for five seconds, while a smaller one of the same broker to the same host is, to a
-- request that was sent later; or while other brokers' replies to that host are, where only replies of one packet at most had come from
-- this broker, two at least. Or nothing that a broker sends on a new connection but its handshake gets there: the first reply was sent
-- again four times and more, and the client, which hears that its request came (or would send it again), acknowledges none of it.
WITH waiting AS (
    SELECT
        x.client_address,
        x.broker_address,
        x.broker_port,
        min(x.client_id) AS client_id,
        min(x.request_time_ns) AS from_ns,
        max(x.request_time_ns) AS to_ns,
        min(x.request_bytes) AS smallest_bytes,
        count(*) AS requests,
        count(DISTINCT x.connection) AS connections,
        min(x.exchange) AS exchange
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.status IN ('pending', 'closed', 'abandoned') AND x.request_bytes > 500 AND is_client(x.role)
        AND c.client_retransmitted >= 3 AND c.one_way IS NULL AND c.last_time_ns - x.request_time_ns >= s(2)
    GROUP BY x.client_address, x.broker_address, x.broker_port
    HAVING count(DISTINCT x.connection) >= 2
),
-- Replies that began and did not end: how large they are says their length field.
held AS (
    SELECT
        c.client_address,
        c.broker_address,
        c.broker_port,
        min(x.client_id) AS client_id,
        min(x.request_time_ns) AS from_ns,
        max(c.last_time_ns) AS to_ns,
        min(p.bytes_lost) AS smallest_bytes,
        count(DISTINCT c.connection) AS replies,
        min(x.exchange) AS exchange
    FROM connections AS c
    JOIN problems AS p ON p.connection = c.connection AND p.kind = 'unfinished_frame' AND p.side = 'broker'
    JOIN exchanges AS x ON x.connection = c.connection AND x.status IN ('pending', 'closed', 'abandoned')
    WHERE is_client(c.role) AND c.broker_retransmitted >= 4 AND c.client_retransmitted < 3 AND c.one_way IS NULL
        AND p.bytes_lost > 500 AND c.last_time_ns - x.request_time_ns >= s(5)
        -- More than a window of it came, captured or cut off: it is slow, and gets through.
        AND coalesce(c.broker_skipped_unfinished_bytes, 0) + coalesce(c.broker_cut_bytes, 0) <= 131072
    GROUP BY c.client_address, c.broker_address, c.broker_port
),
unheard AS (
    SELECT
        c.client_address,
        c.broker_address,
        c.broker_port,
        min(x.client_id) AS client_id,
        min(x.request_time_ns) AS from_ns,
        max(c.last_time_ns) AS to_ns,
        min(x.response_bytes) AS smallest_bytes,
        count(*) AS replies,
        min(x.exchange) AS exchange
    FROM connections AS c JOIN exchanges AS x ON x.connection = c.connection
    WHERE is_client(c.role) AND c.seen_from = 'syn' AND c.requests = 1 AND c.replies = 1 AND c.one_way IS NULL
        -- Behind its SYN and the end of the handshake it sent data alone.
        AND c.client_packets <= 2 + c.client_data_packets AND c.client_retransmitted = 0 AND c.broker_retransmitted >= 4
        AND x.response_bytes > 500 AND c.last_time_ns - x.response_time_ns >= s(5)
    GROUP BY c.client_address, c.broker_address, c.broker_port
)
SELECT
    'client' AS sender,
    w.client_address,
    who(w) AS who,
    w.broker_address || ':' || CAST(w.broker_port AS STRING) AS broker,
    w.requests,
    CAST(NULL AS BIGINT) AS replies,
    CASE WHEN w.requests = 1 THEN 'was' ELSE 'were' END AS was_or_were,
    w.smallest_bytes,
    max(x.request_bytes) AS answered_bytes,
    w.requests AS weight,
    w.exchange AS evidence_first,
    w.from_ns AS first_time_ns,
    w.to_ns AS last_time_ns
FROM waiting AS w
JOIN exchanges AS x
    ON x.client_address = w.client_address AND x.broker_address = w.broker_address AND x.broker_port = w.broker_port
WHERE x.status = 'answered' AND x.request_time_ns > w.from_ns
GROUP BY w.client_address, w.client_id, w.broker_address, w.broker_port, w.requests, w.smallest_bytes, w.exchange, w.from_ns, w.to_ns
HAVING max(x.request_bytes) < w.smallest_bytes AND max(x.request_time_ns) > w.from_ns + s(2) AND count(*) >= 2
UNION ALL
SELECT
    'broker' AS sender,
    client_address,
    who(r) AS who,
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    CAST(NULL AS BIGINT) AS requests,
    replies,
    CASE WHEN replies = 1 THEN 'was' ELSE 'were' END AS was_or_were,
    smallest_bytes,
    coalesce(max(response_bytes) FILTER (WHERE is_same AND is_later), max(response_bytes) FILTER (WHERE is_same)) AS answered_bytes,
    replies AS weight,
    exchange AS evidence_first,
    from_ns AS first_time_ns,
    to_ns AS last_time_ns
FROM (
    SELECT
        h.*,
        x.response_bytes,
        x.broker_address = h.broker_address AND x.broker_port = h.broker_port AS is_same,
        x.request_time_ns > h.from_ns + s(1) AS is_later
    FROM held AS h JOIN exchanges AS x ON x.client_address = h.client_address
    WHERE x.status = 'answered'
) AS r
GROUP BY client_address, client_id, broker_address, broker_port, replies, smallest_bytes, exchange, from_ns, to_ns
HAVING max(response_bytes) FILTER (WHERE is_same AND is_later) < smallest_bytes
    OR (max(response_bytes) FILTER (WHERE is_same) < 1400 AND count(*) FILTER (WHERE is_same) >= 2
        AND count(*) FILTER (WHERE NOT is_same AND is_later) >= 2)
UNION ALL
SELECT
    'broker', client_address, who(u), broker_address || ':' || CAST(broker_port AS STRING), NULL, replies,
    CASE WHEN replies = 1 THEN 'was' ELSE 'were' END, smallest_bytes, NULL, replies, exchange, from_ns, to_ns
FROM unheard AS u
