-- Hosts whose link may be at its limit, one row each and sign of it: what `links_at_limit` asks for of one way, by host. 100 packets that
-- waited in a queue before the capture; three large messages that took 2 s in all; ten packets lost behind it, of 500 kB or more.
SELECT broker_address AS host FROM queued_packets WHERE waited_ns > ms(3) GROUP BY tap, broker_address HAVING count(*) >= 100
UNION ALL
SELECT client_address AS host FROM queued_packets WHERE waited_ns > ms(3) GROUP BY tap, client_address HAVING count(*) >= 100
UNION ALL
SELECT broker_address AS host
FROM exchanges
WHERE receive_ns >= ms(100) AND response_bytes >= 30000 OR send_ns >= ms(100) AND request_bytes >= 30000
GROUP BY broker_address
HAVING count(*) >= 3 AND sum(CAST(coalesce(receive_ns, 0) AS DOUBLE) + coalesce(send_ns, 0)) >= s(2)
UNION ALL
SELECT client_address AS host
FROM connections
WHERE (is_kafka OR (tls AND broker_port <> 443)) AND is_client(role)
GROUP BY client_address
HAVING sum(broker_bytes) >= mb(0.5) AND sum(client_filled + broker_retransmitted) >= 10
    AND sum(client_filled + broker_retransmitted) * 100 >= sum(broker_data_packets)
    OR sum(client_bytes) >= mb(0.5) AND sum(broker_filled + client_retransmitted) >= 10
    AND sum(broker_filled + client_retransmitted) * 100 >= sum(client_data_packets)
