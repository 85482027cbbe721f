-- severity: medium
-- rank: 5
-- when: connections having bool_or(is_kafka AND (broker_retransmitted >= 3 OR requests > replies AND (client_retransmitted >= 2 OR close = 'rst')))
-- says: connections of {who} to {broker} are dropped while idle: what was sent after {killed_ns} without traffic never got through, {times|time|times}[; connections idle for {survived_ns} survived][; this fits the idle timeout of {balancer}]
-- do: A firewall, NAT or load balancer on the path drops idle connections: set connections.max.idle.ms of clients and brokers below its idle timeout, or enable TCP keepalive.
-- look: kanalyze unanswered[ --client {who}]
-- explains: unanswered, connection_storm
-- Silence of 5 s at least, then a request that nobody acknowledged or that a reset answered, and nothing more of the broker on this
-- connection, though the broker went on to answer others, and no longer silence that a connection survived. Beside the broker the same
-- shows in its reply to a long poll, sent again and again and never acknowledged, while the client begins a new connection.
WITH suspects AS (
    SELECT
        connection,
        client_address,
        broker_address,
        broker_port,
        requests > replies AND (client_retransmitted >= 2 OR close = 'rst') AS asks_in_vain,
        broker_retransmitted >= 3 AS answers_in_vain
    FROM connections
    WHERE is_kafka AND coalesce(role, 'client') = 'client'
        AND (broker_retransmitted >= 3 OR requests > replies AND (client_retransmitted >= 2 OR close = 'rst'))
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
        x.response_time_ns - x.request_end_ns AS wait_ns,
        max(x.request_time_ns) OVER (PARTITION BY x.connection) AS last_request_ns,
        max(x.response_time_ns) OVER (PARTITION BY x.connection) AS last_reply_ns
    FROM exchanges AS x JOIN suspects AS s ON s.connection = x.connection
    WHERE x.request_time_ns IS NOT NULL
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
    WHERE s.asks_in_vain AND r.status IN ('closed', 'abandoned', 'pending') AND r.silence_ns >= 5000000000
        AND (r.last_reply_ns IS NULL OR r.last_reply_ns < r.request_time_ns)
    GROUP BY r.client_address, r.broker_address, r.broker_port, r.connection
    UNION ALL
    SELECT
        r.client_address,
        r.broker_address,
        r.broker_port,
        r.connection,
        min(r.wait_ns) AS silence_ns,
        min(r.exchange) AS exchange,
        min(coalesce(r.client_id, r.client_address)) AS who,
        min(r.response_time_ns) AS time_ns
    FROM requests AS r
    JOIN suspects AS s ON s.connection = r.connection
    JOIN connections AS n
        ON n.client_address = r.client_address AND n.broker_address = r.broker_address AND n.broker_port = r.broker_port
        AND n.first_time_ns > r.response_time_ns - 1000000000
    WHERE s.answers_in_vain AND r.status = 'answered' AND r.wait_ns >= 5000000000
        AND r.request_time_ns = r.last_request_ns AND r.response_time_ns = r.last_reply_ns
    GROUP BY r.client_address, r.broker_address, r.broker_port, r.connection
),
-- What the connections between the same two survived.
pairs AS (
    SELECT client_address, broker_address, broker_port
    FROM killed
    GROUP BY client_address, broker_address, broker_port
),
beside AS (
    SELECT
        x.client_address,
        x.broker_address,
        x.broker_port,
        x.status,
        x.request_time_ns,
        x.request_time_ns - max(coalesce(x.response_end_ns, x.request_end_ns, x.request_time_ns)) OVER (
            PARTITION BY x.connection ORDER BY x.request_time_ns, x.exchange ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS silence_ns,
        x.response_time_ns - x.request_end_ns AS wait_ns,
        max(x.request_time_ns) OVER (PARTITION BY x.connection) AS last_request_ns
    FROM exchanges AS x JOIN pairs AS p
        ON p.client_address = x.client_address AND p.broker_address = x.broker_address AND p.broker_port = x.broker_port
    WHERE x.request_time_ns IS NOT NULL
),
survived AS (
    SELECT
        client_address,
        broker_address,
        broker_port,
        max(CASE WHEN request_time_ns < last_request_ns AND wait_ns > coalesce(silence_ns, 0) THEN wait_ns ELSE silence_ns END)
            AS survived_ns
    FROM beside
    WHERE status = 'answered'
    GROUP BY client_address, broker_address, broker_port
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
),
-- Times of well-known balancers that lie between the silences, and not long before the one that killed.
fitting AS (
    SELECT
        *,
        240000000000 BETWEEN coalesce(survived_ns, 0) AND killed_ns AND killed_ns <= 420000000000 AS azure,
        350000000000 BETWEEN coalesce(survived_ns, 0) AND killed_ns AND killed_ns <= 530000000000 AS aws
    FROM told
    WHERE survived_ns IS NULL OR survived_ns < killed_ns
)
SELECT
    who,
    client_address,
    broker,
    times,
    killed_ns,
    survived_ns,
    evidence_first,
    evidence_last,
    first_time_ns,
    last_time_ns,
    CASE
        WHEN azure AND aws THEN 'Azure Load Balancer (240 s) or AWS Network Load Balancer (350 s)'
        WHEN azure THEN 'Azure Load Balancer (240 s)'
        WHEN aws THEN 'AWS Network Load Balancer (350 s)'
    END AS balancer,
    times AS weight
FROM fitting
