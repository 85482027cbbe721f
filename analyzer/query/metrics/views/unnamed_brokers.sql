-- Clients whose Metadata requests are answered without a single broker: one row a client and endpoint. Ten such replies that were
-- read and had no error, for 5 s, in a capture where no reply names any broker.
SELECT
    who() AS who,
    client_address,
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    count(*) AS times,
    max(response_time_ns) - min(response_time_ns) AS lasted_ns,
    count(*) AS weight,
    min_by(exchange, (response_time_ns, exchange)) AS evidence_first,
    max_by(exchange, (response_time_ns, exchange)) AS evidence_last,
    min(response_time_ns) AS first_time_ns,
    max(response_time_ns) AS last_time_ns
FROM exchanges
WHERE api_key = api('Metadata') AND status = 'answered' AND response_decoded = 'full' AND is_client(role)
    AND coalesce(error_count, 0) = 0 AND (SELECT count(*) FROM all_brokers) = 0
GROUP BY client_address, client_id, broker_address, broker_port
HAVING count(*) >= 10 AND max(response_time_ns) - min(response_time_ns) >= s(5)
