-- Which brokers answer in another order than they were asked? One row per client and broker: `times` replies, on
-- `connections` of which the client `closed` so many, came before that to an earlier request of their connection.
-- Three at least, and a client that closed: others need no order. Where packets were lost, or came in another order, times do not
-- tell the order of what they carried.
WITH ordered AS (
    SELECT
        x.connection,
        x.exchange,
        x.client_id,
        x.client_address,
        x.broker_address,
        x.broker_port,
        x.request_time_ns,
        x.response_time_ns,
        max(x.response_time_ns) OVER (
            PARTITION BY x.connection ORDER BY x.request_time_ns RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS earlier_ns
    FROM exchanges AS x
    WHERE x.status = 'answered' AND x.request_time_ns IS NOT NULL AND is_client(x.role)
        AND x.kind IS DISTINCT FROM 'forwarded'
)
SELECT
    who(o) AS who,
    o.client_address,
    o.broker_address || ':' || CAST(o.broker_port AS STRING) AS broker,
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
FROM ordered AS o JOIN connections AS c ON c.connection = o.connection
WHERE o.response_time_ns < o.earlier_ns AND c.client_gaps + c.broker_gaps + c.client_reordered + c.broker_reordered = 0
    AND c.client_retransmitted + c.broker_retransmitted + c.client_conflicts + c.broker_conflicts = 0
GROUP BY o.client_id, o.client_address, o.broker_address, o.broker_port
HAVING count(*) >= 3 AND bool_or(c.closed_by = 'client')
