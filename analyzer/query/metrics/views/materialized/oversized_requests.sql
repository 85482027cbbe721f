-- Requests in the middle of which the broker closes the connection, time and again: one row a client and broker.
-- A broker reads the length of a request and ends the connection when it is more than socket.request.max.bytes: all requests before
-- were answered, nothing of the client's is missing, and the same happens on a connection after the other, with requests of
-- nearly one size, while smaller ones are answered.
WITH ended AS (
    SELECT
        c.connection,
        c.client_address,
        c.broker_address,
        c.broker_port,
        c.last_time_ns,
        p.bytes_lost AS request_bytes
    FROM connections AS c
    JOIN problems AS p ON p.connection = c.connection
    WHERE c.is_kafka AND c.close <> 'none' AND c.client_gap_bytes = 0 AND c.requests = c.replies AND c.one_way IS NULL
        AND is_client(c.role) AND p.kind = 'unfinished_frame' AND p.side = 'client'
),
named AS (
    SELECT
        e.client_address,
        e.broker_address,
        e.broker_port,
        max(x.client_id) AS client_id,
        max(x.request_bytes) AS answered_bytes,
        max(x.exchange) AS exchange
    FROM ended AS e JOIN exchanges AS x ON x.connection = e.connection
    WHERE x.status = 'answered'
    GROUP BY e.client_address, e.broker_address, e.broker_port
)
SELECT
    e.broker_address || ':' || CAST(e.broker_port AS STRING) AS broker,
    e.client_address,
    coalesce(max(n.client_id), e.client_address) AS who,
    min(e.request_bytes) AS request_bytes,
    count(*) AS times,
    CASE WHEN count(*) >= 10 THEN 'high' ELSE 'medium' END AS severity,
    count(*) AS weight,
    max(n.exchange) AS evidence_last,
    min(e.last_time_ns) AS first_time_ns,
    max(e.last_time_ns) AS last_time_ns
FROM ended AS e
LEFT JOIN named AS n
    ON n.client_address = e.client_address AND n.broker_address = e.broker_address AND n.broker_port = e.broker_port
GROUP BY e.client_address, e.broker_address, e.broker_port
HAVING count(*) >= 3 AND min(e.request_bytes) > 2 * coalesce(max(n.answered_bytes), 0)
    AND max(e.request_bytes) <= 2 * min(e.request_bytes)
