-- Messages that are sent in pieces which wait for a delayed acknowledgement (RFC 896), one row a client and broker.
-- A small packet that leaves within a millisecond of an acknowledgement that was delayed for 40 ms (38 to 48): ten at least, one in
-- twenty packets with data. What a proxy sends, on both of its sides, is its own; of one leg alone it is not known who writes.
WITH held AS (
    SELECT
        client_address,
        broker_address || ':' || CAST(broker_port AS STRING) AS broker,
        connection,
        first_time_ns,
        last_time_ns,
        CASE WHEN forwarded_from IS NOT NULL THEN 'the proxy' ELSE 'the client, or a proxy before it,' END AS client_sender,
        CASE WHEN connection IN (SELECT forwarded_from FROM all_connections WHERE forwarded_from IS NOT NULL) THEN 'the proxy'
            ELSE 'the broker, or a proxy before it,' END AS broker_sender,
        CASE WHEN client_held_small * 20 >= client_data_packets THEN client_held_small ELSE 0 END AS by_client,
        CASE WHEN broker_held_small * 20 >= broker_data_packets THEN broker_held_small ELSE 0 END AS by_broker
    FROM connections
    WHERE is_kafka AND greatest(client_held_small, broker_held_small) >= 10
)
SELECT
    h.client_address,
    coalesce(max(t.client_id), h.client_address) AS who,
    h.broker,
    CASE WHEN sum(h.by_client) >= sum(h.by_broker) THEN max(h.client_sender) ELSE max(h.broker_sender) END AS sender,
    CAST(sum(greatest(h.by_client, h.by_broker)) AS BIGINT) AS times,
    CAST(sum(greatest(h.by_client, h.by_broker)) AS BIGINT) AS weight,
    max_by(h.connection, (greatest(h.by_client, h.by_broker), h.connection)) AS connection,
    max_by(t.exchange, (greatest(h.by_client, h.by_broker), h.connection)) AS evidence_any,
    min(h.first_time_ns) AS first_time_ns,
    max(h.last_time_ns) AS last_time_ns
FROM held AS h LEFT JOIN connection_requests AS t ON t.connection = h.connection
WHERE greatest(h.by_client, h.by_broker) >= 10
GROUP BY h.client_address, h.broker
