-- Who was refused? Connection attempts that were answered by a reset, or by nothing, before a byte was exchanged; by client
-- address and broker. `refused` were reset, `unanswered` got no SYN+ACK. Of every port: nothing says that it was Kafka's.
SELECT
    client_address,
    broker_address,
    broker_port,
    count(*) FILTER (WHERE broker_packets > 0) AS refused,
    count(*) FILTER (WHERE broker_packets = 0) AS unanswered,
    min(first_time_ns) AS first_time_ns,
    max(first_time_ns) AS last_time_ns,
    min_by(client_port, first_time_ns) AS example_port,
    count(*) OVER () AS total_rows
FROM connections
WHERE never_answered() AND (broker_packets = 0 OR close = 'rst')
GROUP BY client_address, broker_address, broker_port
ORDER BY refused DESC, unanswered DESC, client_address, broker_address, broker_port
LIMIT 1000
