-- Which 1,000 requests took longest, and what did each wait for? The rows of `slowest` and those that follow, in the same order, without
-- what each was queued behind; parts are null when not known. At most 1,000 rows.
WITH picked AS (
    SELECT e.*
    FROM exchange_parts AS e LEFT JOIN kinds AS k ON k.kind = e.kind
    WHERE e.latency_ns IS NOT NULL
        AND is_client(e.role)
        AND (e.kind IS NULL OR k.reach = 'broker')
    ORDER BY CAST(e.latency_ns AS DOUBLE) + coalesce(e.send_ns, 0) DESC, e.request_time_ns, e.exchange
    LIMIT 1000
)
SELECT
    e.exchange,
    e.request_time_ns,
    e.api_name,
    e.kind,
    e.client_id,
    e.client_address,
    e.broker_id,
    e.broker_address,
    e.broker_port,
    e.latency_ns,
    e.send_ns,
    e.queue_part_ns AS queue_ns,
    e.throttle_part_ns AS muted_ns,
    e.proxy_part_ns AS proxy_ns,
    e.broker_part_ns AS broker_ns,
    e.network_ns,
    e.unknown_ns,
    e.receive_ns,
    q.path AS request_path,
    e.request_packet,
    e.response_packet
FROM picked AS e LEFT JOIN captures AS q ON q.file = e.request_file
ORDER BY CAST(e.latency_ns AS DOUBLE) + coalesce(e.send_ns, 0) DESC, e.request_time_ns, e.exchange
