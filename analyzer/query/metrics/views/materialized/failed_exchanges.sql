-- Exchanges with an error code at any depth, and of them what rules and metrics about errors say: so each of these needs no
-- look at all the others.
SELECT
    exchange, connection, api_key, api_name, kind, role, client_id, client_address, principal, broker_id, broker_address,
    broker_port, group_id, member_id, transactional_id, replica_id, topics, request_bytes, request_time_ns, response_time_ns, latency_ns,
    request_file, request_packet, response_file, response_packet
FROM exchanges
WHERE error_code <> error('NONE')
