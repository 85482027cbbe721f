-- Which exchange a line of a request log is: the one of its connection, API and correlation id whose request was there before
-- the broker began, and whose reply came after. Where one number is used again before its reply, they are paired in order if both sides
-- have as many and each fits closely, else not at all. A broker that stalls when the reply has left writes the line late: by up to 2 s.
-- `burst`: requests of one number between which there is no such moment as is after one and before the next.
WITH clocks AS (
    SELECT broker_address, max(slack_ns) AS slack_ns FROM log_clocks GROUP BY broker_address
),
asked AS (
    SELECT
        x.*,
        c.slack_ns,
        max(x.to_ns + c.slack_ns + s(2)) OVER (
            PARTITION BY x.broker_address, x.broker_port, x.client_address, x.client_port, x.api_key, x.correlation_id
            ORDER BY x.asked_ns, x.exchange
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_ns
    FROM log_exchanges AS x
    JOIN clocks AS c ON c.broker_address = x.broker_address
),
begun AS (
    SELECT
        *,
        sum(CASE WHEN before_ns >= asked_ns - slack_ns THEN 0 ELSE 1 END) OVER (
            PARTITION BY broker_address, broker_port, client_address, client_port, api_key, correlation_id
            ORDER BY asked_ns, exchange
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS burst
    FROM asked
),
numbered AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY broker_address, broker_port, client_address, client_port, api_key, correlation_id, burst
            ORDER BY asked_ns, exchange
        ) AS place
    FROM begun
),
bursts AS (
    SELECT
        broker_address,
        broker_port,
        client_address,
        client_port,
        api_key,
        correlation_id,
        burst,
        count(*) AS requests,
        min(asked_ns - slack_ns) AS from_ns,
        max(to_ns + slack_ns + s(2)) AS to_ns
    FROM begun
    GROUP BY broker_address, broker_port, client_address, client_port, api_key, correlation_id, burst
),
lines AS (
    SELECT r.*, m.begin_ns, m.end_ns
    FROM raw_log_requests AS r
    JOIN log_moments AS m ON m.log = r.log AND m.line = r.line
    WHERE m.begin_ns IS NOT NULL AND NOT r.is_forwarded
),
placed AS (
    SELECT
        r.log,
        r.line,
        r.begin_ns,
        b.*,
        count(*) OVER of_burst AS logged,
        row_number() OVER (of_burst ORDER BY r.begin_ns, r.log, r.line) AS place
    FROM lines AS r
    ASOF JOIN bursts AS b
        ON b.broker_address = r.broker_address
        AND b.broker_port = r.broker_port
        AND b.client_address = r.client_address
        AND b.client_port = r.client_port
        AND b.api_key = r.api_key
        AND b.correlation_id = r.correlation_id
        AND b.from_ns <= r.begin_ns
    WHERE r.begin_ns <= b.to_ns
    WINDOW of_burst AS (
        PARTITION BY b.broker_address, b.broker_port, b.client_address, b.client_port, b.api_key, b.correlation_id, b.burst
    )
),
paired AS (
    SELECT
        p.log,
        p.line,
        n.exchange,
        n.connection,
        bool_and(
            p.requests = 1 OR p.begin_ns BETWEEN n.asked_ns - n.slack_ns + ms(40) AND n.to_ns + n.slack_ns - ms(40)
        ) OVER (
            PARTITION BY n.broker_address, n.broker_port, n.client_address, n.client_port, n.api_key, n.correlation_id, n.burst
        ) AS is_close
    FROM placed AS p
    JOIN numbered AS n
        ON n.broker_address = p.broker_address
        AND n.broker_port = p.broker_port
        AND n.client_address = p.client_address
        AND n.client_port = p.client_port
        AND n.api_key = p.api_key
        AND n.correlation_id = p.correlation_id
        AND n.burst = p.burst
        AND n.place = p.place
    WHERE p.requests = p.logged
)
SELECT log, line, exchange, connection FROM paired WHERE is_close
