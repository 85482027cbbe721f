-- Between whom do messages take long on their way? One row per client and broker.
-- From the first to the last byte of a request or of a reply, 500 ms or longer: a link, a window, a receiver that does not read, or a sender
-- that pauses. Messages under way together cost their client this time once. Medium where three took 5 s.
WITH waits AS (
    SELECT
        client_address,
        client_id,
        broker_address,
        broker_port,
        connection,
        exchange,
        CASE WHEN coalesce(receive_ns, 0) >= coalesce(send_ns, 0) THEN response_time_ns ELSE request_time_ns END AS begin_ns,
        greatest(coalesce(receive_ns, 0), coalesce(send_ns, 0)) AS took_ns
    FROM exchanges
    WHERE (receive_ns >= ms(500) OR send_ns >= ms(500)) AND is_client(role)
),
lasting AS (
    SELECT
        *,
        greatest(end_ns - greatest(begin_ns, coalesce(max(end_ns) OVER before, 0)), 0) AS lost_ns
    FROM (SELECT *, CAST(begin_ns AS HUGEINT) + took_ns AS end_ns FROM waits) AS w
    WINDOW before AS (
        PARTITION BY client_address, client_id, broker_address, broker_port ORDER BY begin_ns, exchange
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),
slow AS (
    SELECT
        client_address,
        client_id,
        broker_address,
        broker_port,
        count(*) AS slow,
        count(*) FILTER (WHERE took_ns >= s(5)) AS very_slow,
        sum(lost_ns) AS waited_ns,
        max(took_ns) AS longest_ns,
        max_by(connection, (took_ns, exchange)) AS connection,
        max_by(exchange, (took_ns, exchange)) AS evidence_slowest,
        min(begin_ns) AS first_time_ns,
        TRY_CAST(max(end_ns) AS BIGINT) AS last_time_ns
    FROM lasting
    GROUP BY client_address, client_id, broker_address, broker_port
),
asked AS (
    SELECT
        x.client_address,
        x.client_id,
        x.broker_address,
        x.broker_port,
        count(*) AS requests,
        max(coalesce(x.response_end_ns, x.request_end_ns)) - min(x.request_time_ns) AS lasted_ns
    FROM exchanges AS x
    JOIN (SELECT client_address, client_id FROM slow GROUP BY client_address, client_id) AS c
        ON c.client_address = x.client_address AND c.client_id IS NOT DISTINCT FROM x.client_id
    GROUP BY x.client_address, x.client_id, x.broker_address, x.broker_port
)
SELECT
    who(s) AS who,
    s.client_address,
    s.broker_address || ':' || CAST(s.broker_port AS STRING) AS broker,
    s.slow,
    a.requests,
    TRY_CAST(s.waited_ns AS BIGINT) AS waited_ns,
    s.longest_ns,
    CASE WHEN s.very_slow >= 3 THEN 'medium' ELSE 'info' END AS severity,
    CAST(least(s.waited_ns, max_bigint()) AS BIGINT) AS weight,
    s.connection,
    s.evidence_slowest,
    s.first_time_ns,
    s.last_time_ns
FROM slow AS s
JOIN asked AS a
    ON a.client_address = s.client_address AND a.client_id IS NOT DISTINCT FROM s.client_id AND a.broker_address = s.broker_address
    AND a.broker_port = s.broker_port
WHERE s.waited_ns >= impact('slow_ns') AND s.waited_ns >= impact('slow_share') * a.lasted_ns
