-- How far is it from clients to the brokers, and where between them was the capture taken? Medians over the connections of
-- clients whose handshake was seen, by client and broker address, the farthest first, ns: `to_broker_ns` and `to_client_ns`
-- are the ways from the capture and back, `rtt_ns` is both. At most 1,000 rows of `total_rows`.
SELECT
    client_address,
    broker_address,
    count(*) AS connections,
    CAST(round(percentile_cont(0.5) WITHIN GROUP (ORDER BY rtt_ns)) AS BIGINT) AS rtt_ns,
    CAST(round(percentile_cont(0.5) WITHIN GROUP (ORDER BY syn_ack_ns)) AS BIGINT) AS to_broker_ns,
    CAST(round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ack_ns)) AS BIGINT) AS to_client_ns,
    max(rtt_ns) AS max_rtt_ns,
    count(*) OVER () AS total_rows
FROM connections
WHERE is_kafka AND rtt_ns IS NOT NULL AND syn_ack_ns IS NOT NULL AND ack_ns IS NOT NULL
    AND is_client(role)
GROUP BY client_address, broker_address
ORDER BY rtt_ns DESC, client_address, broker_address
LIMIT 1000
