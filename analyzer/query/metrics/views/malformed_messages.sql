-- Messages that could not be decoded as the protocol defines, one row for each API, version and sender: a client, or the broker that
-- answered. Behind a gap it is not sure where a message begins: of connections with gaps only those count that the broker ended.
-- `ended`: after so many of these requests the broker closed the connection, within 2 s and without a reply; `who` is then the
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
        c.client_gaps + c.broker_gaps = 0 AS is_whole,
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
        c.client_gaps + c.broker_gaps = 0,
        x.api_name,
        x.api_version,
        false,
        x.broker_address || ':' || CAST(x.broker_port AS STRING),
        false,
        x.exchange,
        x.response_time_ns
    FROM exchanges AS x LEFT JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_name NOT LIKE 'key %' AND x.response_decoded = 'malformed'
) AS m
WHERE coalesce(is_whole, true) OR is_ended
GROUP BY api_name, api_version, is_request, sender
