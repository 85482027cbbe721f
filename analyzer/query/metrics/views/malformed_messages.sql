-- Messages that could not be decoded as the protocol defines, one row for each API, version and sender: a client (`who`), or the broker
-- that answered (`sender`). `ended`: after so many of these requests the broker closed the connection, within 2 s and without a reply.
SELECT
    api_name,
    api_version,
    who,
    sender,
    count(*) AS messages,
    nullif(count(*) FILTER (WHERE is_ended), 0) AS ended,
    count(*) AS weight,
    min_by(exchange, (time_ns, exchange)) AS evidence_first,
    min(time_ns) AS first_time_ns,
    max(time_ns) AS last_time_ns
FROM (
    SELECT
        x.api_name,
        x.api_version,
        who(x) AS who,
        CAST(NULL AS STRING) AS sender,
        x.status = 'closed' AND c.closed_by = 'broker' AND c.close_time_ns BETWEEN x.request_end_ns AND x.request_end_ns + s(2) AS is_ended,
        x.exchange,
        x.request_time_ns AS time_ns
    FROM exchanges AS x LEFT JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_name NOT LIKE 'key %' AND x.request_decoded = 'malformed'
    UNION ALL
    SELECT
        api_name, api_version, NULL, broker_address || ':' || CAST(broker_port AS STRING), false, exchange, response_time_ns
    FROM exchanges
    WHERE api_name NOT LIKE 'key %' AND response_decoded = 'malformed'
) AS m
GROUP BY api_name, api_version, who, sender
