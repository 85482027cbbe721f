-- Brokers of one cluster that are advertised at one address at the same time: one row a cluster and address. What a client sends to
-- one of them arrives at any. `refused`: so many requests then met a broker that does not lead or coordinate what they were about.
WITH shared AS (
    SELECT a.cluster, a.host, a.port, count(DISTINCT a.broker_id) AS brokers
    FROM brokers AS a
    JOIN brokers AS b
        ON b.cluster = a.cluster AND b.host = a.host AND b.port = a.port AND b.broker_id <> a.broker_id
        AND b.first_time_ns <= a.last_time_ns AND b.last_time_ns >= a.first_time_ns
    GROUP BY a.cluster, a.host, a.port
),
-- What was refused at the address; where that is a name, at its port.
refused AS (
    SELECT
        c.cluster,
        who(x) AS who,
        x.broker_address,
        x.broker_port,
        e.exchange,
        x.response_time_ns
    FROM errors AS e
    JOIN failed_exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE e.code IN (error('NOT_LEADER_OR_FOLLOWER', 'NOT_COORDINATOR', 'FENCED_LEADER_EPOCH', 'UNKNOWN_LEADER_EPOCH',
        'REPLICA_NOT_AVAILABLE')) AND is_client(x.role)
)
SELECT
    s.cluster,
    max(s.host || ':' || CAST(s.port AS STRING)) AS address,
    max(s.brokers) AS brokers,
    count(DISTINCT r.exchange) AS refused,
    CASE WHEN min(r.who) = max(r.who) THEN max(r.who) END AS who,
    CASE WHEN count(DISTINCT r.exchange) >= 10 THEN 'high' END AS severity,
    count(DISTINCT r.exchange) AS weight,
    min_by(r.exchange, (r.response_time_ns, r.exchange)) AS evidence_first,
    max_by(r.exchange, (r.response_time_ns, r.exchange)) AS evidence_last,
    min(r.response_time_ns) AS first_time_ns,
    max(r.response_time_ns) AS last_time_ns
FROM shared AS s JOIN refused AS r
    ON r.cluster = s.cluster AND r.broker_port = s.port
    AND (r.broker_address = s.host OR is_name(s.host))
GROUP BY s.cluster, s.host, s.port
HAVING count(DISTINCT r.exchange) >= 3
