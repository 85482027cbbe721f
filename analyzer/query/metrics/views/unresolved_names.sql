-- Which clients may be unable to resolve the name that brokers advertise? One row per client and name. Such a client sends no packet
-- there. This is a guess, as who only watches a cluster looks the same: a client that asks for the metadata of topics at an address
-- by which nobody moves records, and for nothing else: on three connections, for 10 s at least (`asked_again`); or it asked for a
-- producer's id last, and was silent for 10 s, to the end (`told_by`). An idle producer asks for its id too, and for no topic.
WITH hesitant AS (
    SELECT t.client_address, t.client_id, c.broker_address, c.broker_port
    FROM totals AS t JOIN connections AS c ON c.connection = t.connection
    WHERE t.is_client
    GROUP BY t.client_address, t.client_id, c.broker_address, c.broker_port
    -- Logins and versions may be 7 requests before each.
    HAVING sum(t.metadata_requests) * 8 >= sum(t.exchanges)
),
asked AS (
    SELECT
        x.client_address,
        who(x) AS who,
        x.broker_address,
        x.broker_port,
        x.broker_address || ':' || CAST(x.broker_port AS STRING) AS bootstrap,
        min(c.cluster) AS cluster,
        count(DISTINCT x.connection) AS connections,
        max_by(x.api_key, (x.request_time_ns, x.exchange)) = api('InitProducerId') AS writes,
        max_by(x.exchange, (x.request_time_ns, x.exchange)) FILTER (WHERE x.api_key = api('Metadata')) AS exchange,
        min(x.request_time_ns) AS first_ns,
        max(coalesce(x.response_end_ns, x.request_time_ns)) AS last_ns
    FROM hesitant AS h
    JOIN exchanges AS x
        ON x.client_address = h.client_address AND x.client_id IS NOT DISTINCT FROM h.client_id
        AND x.broker_address = h.broker_address AND x.broker_port = h.broker_port
    JOIN connections AS c ON c.connection = x.connection
    GROUP BY x.client_address, who(x), x.broker_address, x.broker_port
    HAVING bool_and(coalesce(
            x.api_key IN (api('ApiVersions', 'SaslHandshake', 'SaslAuthenticate', 'Metadata', 'InitProducerId')), x.status <> 'orphan_reply'
        ))
        AND bool_or(x.api_key = api('Metadata') AND x.status = 'answered' AND x.topics > 0)
),
-- Addresses by which somebody moves records, whatever is asked for.
moved AS (
    SELECT DISTINCT broker_address, broker_port FROM all_exchanges WHERE api_key IN (api('Produce', 'Fetch')) AND is_client(role)
)
SELECT
    q.client_address,
    q.who,
    b.host || ':' || CAST(b.port AS STRING) AS broker,
    b.host || ':' || CAST(b.port AS STRING) AS advertised,
    q.bootstrap,
    CASE WHEN q.connections >= 3 THEN q.bootstrap END AS asked_again,
    CASE WHEN q.connections < 3 THEN q.bootstrap END AS told_by,
    q.connections AS weight,
    q.exchange AS evidence_metadata,
    CASE WHEN q.connections >= 3 THEN q.first_ns ELSE q.last_ns END AS first_time_ns,
    r.last_time_ns
FROM asked AS q
JOIN told_listeners AS b ON b.cluster IS NOT DISTINCT FROM q.cluster AND b.asked_port = q.broker_port
CROSS JOIN time_range AS r
LEFT JOIN moved AS m ON m.broker_address = q.broker_address AND m.broker_port = q.broker_port
WHERE m.broker_port IS NULL
    AND b.host <> 'localhost' AND is_name(b.host)
    AND ((q.connections < 3 AND q.writes AND r.last_time_ns - q.last_ns >= s(10)) OR (q.connections >= 3 AND q.last_ns - q.first_ns >= s(10)))
    AND NOT EXISTS (
        SELECT 1 FROM all_connections AS c
        WHERE c.client_address = q.client_address AND c.is_kafka AND (c.broker_address <> q.broker_address OR c.broker_port <> q.broker_port)
    )
QUALIFY row_number() OVER (PARTITION BY q.client_address, q.who, b.host, b.port ORDER BY q.last_ns DESC, q.bootstrap) = 1
