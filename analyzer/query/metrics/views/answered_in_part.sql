-- Endpoints that answer some attempts to connect and others not, by turns: one row an endpoint. An episode is a row of attempts of one
-- host without an answer, between two that were answered, 15 s before and after it at most; three episodes at least. What was
-- refused does not count, so that a broker which starts again and again is none of these.
WITH tried AS (
    SELECT
        s.connection,
        c.client_address,
        c.broker_address,
        c.broker_port,
        c.first_time_ns,
        coalesce(s.failed = 'none', false) AS unanswered
    FROM connections_seen AS s JOIN connections AS c ON c.connection = s.connection
    WHERE c.seen_from = 'syn' AND is_client(c.role) AND c.one_way IS NULL AND (s.failed = 'none' OR c.syn_ack_ns IS NOT NULL)
),
turns AS (
    SELECT
        *,
        max(CASE WHEN NOT unanswered THEN first_time_ns END) OVER (
            PARTITION BY client_address, broker_address, broker_port ORDER BY first_time_ns, connection
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_ns,
        min(CASE WHEN NOT unanswered THEN first_time_ns END) OVER (
            PARTITION BY client_address, broker_address, broker_port ORDER BY first_time_ns, connection
            ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ) AS after_ns
    FROM tried
),
judged AS (
    SELECT *, unanswered AND coalesce(first_time_ns - before_ns <= s(15) AND after_ns - first_time_ns <= s(15), false) AS counts
    FROM turns
)
SELECT
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    count(*) FILTER (WHERE unanswered) AS times,
    count(*) AS attempts,
    count(DISTINCT CASE WHEN counts THEN concat(client_address, ' ', CAST(before_ns AS STRING)) END) AS episodes,
    count(DISTINCT CASE WHEN counts THEN client_address END) AS hosts,
    count(*) FILTER (WHERE counts) AS weight,
    min_by(connection, (first_time_ns, connection)) FILTER (WHERE counts) AS connection,
    min(first_time_ns) FILTER (WHERE counts) AS first_time_ns,
    max(after_ns) FILTER (WHERE counts) AS last_time_ns
FROM judged
GROUP BY broker_address, broker_port
HAVING count(DISTINCT CASE WHEN counts THEN concat(client_address, ' ', CAST(before_ns AS STRING)) END) >= 3
