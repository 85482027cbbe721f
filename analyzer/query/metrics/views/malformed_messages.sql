-- Messages that could not be decoded as the protocol defines, one row for each API, version and sender: a client, or the broker that
-- answered. `ended`: after so many of these requests the broker closed the connection, within 2 s and without a reply; `who` is then the
-- client that lost what had no reply.
SELECT
    api_name,
    api_version,
    CASE WHEN bool_or(is_ended) THEN sender END AS who,
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
        true AS is_request,
        who(x) AS sender,
        x.status = 'closed' AND c.closed_by = 'broker' AND c.close_time_ns BETWEEN x.request_end_ns AND x.request_end_ns + s(2) AS is_ended,
        x.exchange,
        x.request_time_ns AS time_ns
    FROM exchanges AS x LEFT JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_name NOT LIKE 'key %' AND x.request_decoded = 'malformed'
    UNION ALL
    SELECT
        api_name, api_version, false, broker_address || ':' || CAST(broker_port AS STRING), false, exchange, response_time_ns
    FROM exchanges
    WHERE api_name NOT LIKE 'key %' AND response_decoded = 'malformed'
) AS m
GROUP BY api_name, api_version, is_request, sender
