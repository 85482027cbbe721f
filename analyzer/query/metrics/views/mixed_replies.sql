-- Which brokers answer in another order than they were asked? One row per client and broker: `times` replies, on
-- `connections` of which the client `closed` so many, came before that to an earlier request of their connection.
-- Three at least, and a client that closed: others need no order. Where packets were lost, or came in another order, times do not
-- tell the order of what they carried; nor does a clock that jumped.
-- Only connections of which that may be are put in order.
WITH clean AS (
    SELECT connection, client_address, broker_address, broker_port, closed_by
    FROM connections
    WHERE client_gaps + broker_gaps + client_reordered + broker_reordered = 0
        AND client_retransmitted + broker_retransmitted + client_conflicts + broker_conflicts = 0
),
closers AS (
    SELECT client_address, broker_address, broker_port
    FROM clean
    WHERE closed_by = 'client'
    GROUP BY client_address, broker_address, broker_port
),
-- A reply that comes behind that to a later request queued for it (`queue_ns`), unless that is unknown.
suspects AS (
    SELECT c.connection, c.closed_by
    FROM exchanges AS x
    JOIN clean AS c ON c.connection = x.connection
    JOIN closers AS s
        ON s.client_address = c.client_address AND s.broker_address = c.broker_address AND s.broker_port = c.broker_port
    LEFT JOIN exchanges AS b
        ON b.connection = x.connection AND b.response_end_ns = x.request_end_ns + x.queue_ns AND b.exchange <> x.exchange
    WHERE x.status = 'answered' AND x.queue_ns IS DISTINCT FROM 0 AND coalesce(b.request_time_ns > x.request_time_ns, true)
    GROUP BY c.connection, c.closed_by
),
ordered AS (
    SELECT
        exchange,
        connection,
        response_time_ns,
        max(response_time_ns) OVER (
            PARTITION BY connection ORDER BY request_time_ns, response_time_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS earlier_ns
    FROM exchanges
    WHERE status = 'answered' AND request_time_ns IS NOT NULL AND is_client(role)
        AND connection IN (SELECT connection FROM suspects)
)
SELECT
    who(x) AS who,
    x.client_address,
    x.broker_address || ':' || CAST(x.broker_port AS STRING) AS broker,
    count(*) AS times,
    count(DISTINCT o.connection) AS connections,
    count(DISTINCT CASE WHEN c.closed_by = 'client' THEN o.connection END) AS closed,
    CASE WHEN count(DISTINCT CASE WHEN c.closed_by = 'client' THEN o.connection END) >= 3 THEN 'high' END AS severity,
    count(*) AS weight,
    min_by(o.connection, (o.response_time_ns, o.exchange)) AS connection,
    min_by(o.exchange, (o.response_time_ns, o.exchange)) AS evidence_first,
    max_by(o.exchange, (o.response_time_ns, o.exchange)) AS evidence_last,
    min(o.response_time_ns) AS first_time_ns,
    max(o.response_time_ns) AS last_time_ns
FROM ordered AS o
JOIN exchanges AS x ON x.exchange = o.exchange
JOIN suspects AS c ON c.connection = o.connection
WHERE o.response_time_ns < o.earlier_ns AND NOT EXISTS (SELECT 1 FROM clock_jumps)
GROUP BY x.client_id, x.client_address, x.broker_address, x.broker_port
HAVING count(*) >= 3 AND bool_or(c.closed_by = 'client')
