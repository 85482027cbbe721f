-- Where between client and broker packets were captured, by the shortest TCP handshakes between two hosts at one tap: near the
-- client the SYN+ACK comes late, near the broker the last ACK does. Connections of a host to itself are left out.
WITH least_times AS (
    SELECT tap, client_address, broker_address, min(syn_ack_ns) AS to_broker_ns, min(ack_ns) AS to_client_ns
    FROM parts
    WHERE syn_ack_ns IS NOT NULL AND ack_ns IS NOT NULL AND client_address <> broker_address
        AND broker_address NOT LIKE '127.%'
    GROUP BY tap, client_address, broker_address
)
SELECT
    *,
    CASE
        WHEN to_broker_ns / 2 >= to_client_ns THEN 'client'
        WHEN to_client_ns / 2 >= to_broker_ns THEN 'broker'
        -- Shorter ways lie within one host.
        WHEN to_client_ns >= 50000 THEN 'between'
    END AS capture_side
FROM least_times
