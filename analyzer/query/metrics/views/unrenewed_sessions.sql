-- Clients whose connections the broker closes when their login has reached an age: one row a client and broker. `lived_ns`: that age.
-- A broker with connections.max.reauth.ms, or a token that expires, closes at the first request after that, unless the client has
-- logged in again. Three connections at least that the broker closed, all at the same age within a twentieth, half a minute or older,
-- each within 2 s of a request that it did not answer: who is merely idle is closed without one.
WITH logged_in AS (
    SELECT
        connection,
        max(time_ns) FILTER (WHERE outcome = 'ok') AS time_ns,
        max(sasl_mechanism) AS sasl_mechanism,
        bool_or(again) AS again
    FROM logins
    GROUP BY connection
),
ended AS (
    SELECT
        c.connection,
        c.client_address,
        c.broker_address,
        c.broker_port,
        l.sasl_mechanism,
        c.close_time_ns - l.time_ns AS lived_ns,
        c.close_time_ns,
        min(who(x)) AS who,
        max_by(x.exchange, (x.request_time_ns, x.exchange)) AS exchange
    FROM connections AS c
    JOIN logged_in AS l ON l.connection = c.connection
    JOIN exchanges AS x ON x.connection = c.connection
    WHERE c.closed_by = 'broker' AND NOT coalesce(l.again, false) AND x.status IN ('closed', 'abandoned')
        AND c.close_time_ns - l.time_ns >= s(30) AND x.request_time_ns >= c.close_time_ns - s(2)
    GROUP BY c.connection, c.client_address, c.broker_address, c.broker_port, l.sasl_mechanism, l.time_ns, c.close_time_ns
)
SELECT
    min(who) AS who,
    client_address,
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    max(sasl_mechanism) AS sasl_mechanism,
    min(lived_ns) AS lived_ns,
    count(*) AS times,
    count(*) AS weight,
    min_by(connection, (close_time_ns, connection)) AS connection,
    min_by(exchange, (close_time_ns, exchange)) AS evidence_first,
    max_by(exchange, (close_time_ns, exchange)) AS evidence_last,
    min(close_time_ns) AS first_time_ns,
    max(close_time_ns) AS last_time_ns
FROM ended
GROUP BY client_address, broker_address, broker_port, who
HAVING count(*) >= 3 AND max(lived_ns) <= min(lived_ns) * 1.05
