-- Which brokers do not read what clients send? One row a broker: `times` requests took a second and more from their first to their last byte,
-- on connections whose receive window the broker closed as often. A broker reads one request of a connection at a time and mutes who is
-- throttled: a request that was sent behind another one which was not answered yet, up to a second behind one without a reply (acks=0),
-- or on a connection with throttled replies, tells nothing; nor does a connection that lost packets, as what comes behind a lost one fills
-- the window too. `waited_ns`: of all these requests together, those of different connections at the same time each.
WITH held AS (
    SELECT x.*
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.send_ns >= s(1) AND c.broker_zero_windows > 0 AND c.client_retransmitted = 0 AND is_client(x.role)
    QUALIFY count(*) OVER (PARTITION BY x.connection) <= c.broker_zero_windows
),
-- What is asked of the same connections, of which there are few.
others AS (
    SELECT h.exchange
    FROM held AS h JOIN exchanges AS x ON x.connection = h.connection
    WHERE x.exchange <> h.exchange
        AND (
            x.throttle_time_ms > 0
            OR (x.request_time_ns < h.request_time_ns AND CASE
                WHEN x.status = 'no_reply_expected' THEN x.request_end_ns > h.request_time_ns - s(1)
                ELSE coalesce(x.response_time_ns > h.request_time_ns, true)
            END)
        )
    GROUP BY h.exchange
)
SELECT
    h.broker_address || ':' || CAST(h.broker_port AS STRING) AS broker,
    CASE WHEN min(who(h)) = max(who(h)) THEN max(who(h)) END AS who,
    count(DISTINCT who(h)) AS clients,
    count(*) AS times,
    max(h.send_ns) AS longest_ns,
    TRY_CAST(sum(CAST(h.send_ns AS HUGEINT)) AS BIGINT) AS waited_ns,
    max(h.send_ns) AS weight,
    max_by(h.exchange, (h.send_ns, h.exchange)) AS evidence_worst,
    min(h.request_time_ns) AS first_time_ns,
    max(h.request_end_ns) AS last_time_ns
FROM held AS h LEFT JOIN others AS o ON o.exchange = h.exchange
WHERE o.exchange IS NULL
GROUP BY h.broker_address, h.broker_port
HAVING count(*) >= 3
