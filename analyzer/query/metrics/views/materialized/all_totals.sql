-- What was asked on each connection, by client id and by how it ended: sums that many questions read, in one pass over all
-- exchanges. `totals` is the same of what the filters leave. `is_token`: bare SASL tokens, which name no client.
-- `waited_ns`: the sum of latencies without waits by design.
SELECT
    connection,
    client_address,
    client_id,
    status,
    is_client(role) AS is_client,
    coalesce(e.kind = 'sasl_token', false) AS is_token,
    count(*) AS exchanges,
    count(*) FILTER (WHERE api_key = api('Metadata')) AS metadata_requests,
    count(*) FILTER (WHERE api_key = api('ApiVersions')) AS hello_requests,
    count(*) FILTER (WHERE NOT no_error(error_code)) AS errors,
    count(*) FILTER (WHERE throttle_time_ms > 0) AS throttled,
    count(*) FILTER (WHERE response_decoded IN ('unsupported', 'malformed', 'trailing')) AS unread_replies,
    CAST(sum(request_bytes) AS BIGINT) AS request_bytes,
    CAST(sum(response_bytes) AS BIGINT) AS response_bytes,
    CAST(sum(CASE WHEN coalesce(k.reach, 'broker') = 'broker' THEN e.latency_ns END) AS DOUBLE) AS waited_ns,
    max(request_time_ns) AS last_request_ns,
    min(exchange) AS exchange
FROM all_exchanges AS e LEFT JOIN kinds AS k ON k.kind = e.kind
GROUP BY
    connection, client_address, client_id, status, is_client(role), coalesce(e.kind = 'sasl_token', false)
