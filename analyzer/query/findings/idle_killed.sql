-- severity: medium
-- rank: 5
-- when: connections having bool_or(is_kafka AND requests > replies AND (client_retransmitted >= 2 OR close = 'rst'))
-- says: connections of {who} to {broker} die while they are idle: after {killed_ns} of silence a request was sent into nothing, {times|time|times}[; {survived_ns} of silence did no harm][: {balancer} forgets connections then]
-- do: A firewall, NAT or load balancer in between forgets idle connections: let connections.max.idle.ms of client and broker be shorter than its time, or switch on TCP keepalive.
-- look: kanalyze unanswered[ --client {who}]
-- explains: unanswered, connection_storm
-- Silence of 5 s at least, then a request that nobody acknowledged or that a reset answered, and nothing more of the broker on this
-- connection, though the broker went on to answer others, and no longer silence that a connection survived.
WITH suspects AS (
    SELECT connection, client_address, broker_address, broker_port
    FROM connections
    WHERE is_kafka AND requests > replies AND (client_retransmitted >= 2 OR close = 'rst')
        AND coalesce(role, 'client') = 'client'
),
pairs AS (
    SELECT client_address, broker_address, broker_port
    FROM suspects
    GROUP BY client_address, broker_address, broker_port
),
requests AS (
    SELECT
        x.connection,
        x.exchange,
        x.client_id,
        x.client_address,
        x.broker_address,
        x.broker_port,
        x.status,
        x.request_time_ns,
        x.response_time_ns,
        x.request_time_ns - max(coalesce(x.response_end_ns, x.request_end_ns, x.request_time_ns)) OVER (
            PARTITION BY x.connection ORDER BY x.request_time_ns, x.exchange ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS silence_ns,
        max(x.response_time_ns) OVER (PARTITION BY x.connection) AS last_reply_ns
    FROM exchanges AS x JOIN pairs AS p
        ON p.client_address = x.client_address AND p.broker_address = x.broker_address AND p.broker_port = x.broker_port
    WHERE x.request_time_ns IS NOT NULL
),
survived AS (
    SELECT client_address, broker_address, broker_port, max(silence_ns) AS survived_ns
    FROM requests
    WHERE status = 'answered'
    GROUP BY client_address, broker_address, broker_port
),
killed AS (
    SELECT
        r.client_address,
        r.broker_address,
        r.broker_port,
        r.connection,
        min(r.silence_ns) AS silence_ns,
        min_by(r.exchange, (r.request_time_ns, r.exchange)) AS exchange,
        min_by(coalesce(r.client_id, r.client_address), (r.request_time_ns, r.exchange)) AS who,
        min(r.request_time_ns) AS time_ns
    FROM requests AS r JOIN suspects AS s ON s.connection = r.connection
    WHERE r.status IN ('closed', 'abandoned', 'pending') AND r.silence_ns >= 5000000000
        AND (r.last_reply_ns IS NULL OR r.last_reply_ns < r.request_time_ns)
    GROUP BY r.client_address, r.broker_address, r.broker_port, r.connection
),
answering AS (
    SELECT k.connection
    FROM killed AS k JOIN exchanges AS x ON x.broker_address = k.broker_address AND x.broker_port = k.broker_port
    WHERE x.response_time_ns > k.time_ns
    GROUP BY k.connection
),
told AS (
    SELECT
        k.who,
        k.client_address,
        k.broker_address || ':' || CAST(k.broker_port AS STRING) AS broker,
        count(*) AS times,
        min(k.silence_ns) AS killed_ns,
        max(CASE WHEN v.survived_ns >= 1000000000 THEN v.survived_ns END) AS survived_ns,
        min_by(k.exchange, (k.time_ns, k.exchange)) AS evidence_first,
        max_by(k.exchange, (k.time_ns, k.exchange)) AS evidence_last,
        min(k.time_ns) AS first_time_ns,
        max(k.time_ns) AS last_time_ns
    FROM killed AS k
    JOIN answering AS a ON a.connection = k.connection
    LEFT JOIN survived AS v
        ON v.client_address = k.client_address AND v.broker_address = k.broker_address AND v.broker_port = k.broker_port
    GROUP BY k.who, k.client_address, k.broker_address, k.broker_port
)
SELECT
    *,
    CASE
        WHEN killed_ns BETWEEN 240000000000 AND 345000000000 AND coalesce(survived_ns, 0) < 240000000000
            THEN 'Azure Load Balancer (240 s)'
        WHEN killed_ns BETWEEN 350000000000 AND 420000000000 AND coalesce(survived_ns, 240000000001) BETWEEN 240000000001 AND 349999999999
            THEN 'AWS Network Load Balancer (350 s)'
    END AS balancer,
    times AS weight
FROM told
WHERE survived_ns IS NULL OR survived_ns < killed_ns
