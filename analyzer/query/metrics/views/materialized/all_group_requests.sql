-- What was asked about groups: sums by connection, client, group, member, API and error.
SELECT
    connection,
    client_address,
    client_id,
    group_id,
    member_id,
    api_key,
    error_code,
    status = 'orphan_reply' AS is_orphan,
    count(*) AS exchanges,
    min(request_time_ns) AS first_time_ns,
    max(request_time_ns) AS last_time_ns,
    max_by(exchange, request_time_ns) AS last_exchange
FROM all_exchanges
WHERE group_id IS NOT NULL
GROUP BY connection, client_address, client_id, group_id, member_id, api_key, error_code, status = 'orphan_reply'
