-- Which brokers answer in another order than they were asked? One row per client and broker: `times` replies, on
-- `connections` of which the client `closed` so many, came before that to an earlier request of their connection.
-- Three at least, and a client that closed: others need no order. Where packets were lost, or came in another order, times do not
-- tell the order of what they carried; nor does a clock that jumped.
-- Only who closed such a connection is looked at: to put every request in order costs more than the rest of the question.
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
ordered AS (
    SELECT
        x.connection,
        x.exchange,
        x.client_id,
        x.client_address,
        x.broker_address,
        x.broker_port,
        x.request_time_ns,
        x.response_time_ns,
        c.closed_by,
        max(x.response_time_ns) OVER (
            PARTITION BY x.connection ORDER BY x.request_time_ns RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS earlier_ns
    FROM exchanges AS x
    JOIN clean AS c ON c.connection = x.connection
    JOIN closers AS s
        ON s.client_address = c.client_address AND s.broker_address = c.broker_address AND s.broker_port = c.broker_port
    WHERE x.status = 'answered' AND x.request_time_ns IS NOT NULL AND is_client(x.role)
)
SELECT
    who(o) AS who,
    o.client_address,
    o.broker_address || ':' || CAST(o.broker_port AS STRING) AS broker,
    count(*) AS times,
    count(DISTINCT o.connection) AS connections,
    count(DISTINCT CASE WHEN o.closed_by = 'client' THEN o.connection END) AS closed,
    CASE WHEN count(DISTINCT CASE WHEN o.closed_by = 'client' THEN o.connection END) >= 3 THEN 'high' END AS severity,
    count(*) AS weight,
    min_by(o.connection, (o.response_time_ns, o.exchange)) AS connection,
    min_by(o.exchange, (o.response_time_ns, o.exchange)) AS evidence_first,
    max_by(o.exchange, (o.response_time_ns, o.exchange)) AS evidence_last,
    min(o.response_time_ns) AS first_time_ns,
    max(o.response_time_ns) AS last_time_ns
FROM ordered AS o
WHERE o.response_time_ns < o.earlier_ns AND NOT EXISTS (SELECT 1 FROM clock_jumps)
GROUP BY o.client_id, o.client_address, o.broker_address, o.broker_port
HAVING count(*) >= 3 AND bool_or(o.closed_by = 'client')
