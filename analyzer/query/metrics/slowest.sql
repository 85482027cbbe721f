-- Which requests took longest, and where are they in the capture? From their first byte to the first byte of the reply
-- (send_ns + latency_ns), waits by design left out. Packets are numbered as Wireshark does, in the file of `request_path`; parts are null when
-- not known. `behind_` is the
-- request of the same connection whose reply came last before this one's, of those that made it wait. At most 20 rows.
WITH picked AS (
    SELECT e.*
    FROM exchange_parts AS e LEFT JOIN kinds AS k ON k.kind = e.kind
    WHERE e.latency_ns IS NOT NULL
        AND is_client(e.role)
        AND (e.kind IS NULL OR k.reach = 'broker')
    ORDER BY CAST(e.latency_ns AS DOUBLE) + coalesce(e.send_ns, 0) DESC, e.request_time_ns, e.exchange
    LIMIT 20
),
behind AS (
    SELECT
        p.exchange,
        max_by(x.exchange, (x.response_time_ns, x.exchange)) AS behind_exchange,
        -- max_by ignores nulls, and would take the value of another request.
        nullif(max_by(coalesce(x.api_name, ''), (x.response_time_ns, x.exchange)), '') AS behind_api_name,
        nullif(max_by(coalesce(x.kind, ''), (x.response_time_ns, x.exchange)), '') AS behind_kind,
        nullif(max_by(coalesce(x.latency_ns, -1), (x.response_time_ns, x.exchange)), -1) AS behind_latency_ns
    FROM picked AS p JOIN exchanges AS x
        ON x.connection = p.connection
        AND x.request_time_ns <= p.request_time_ns
        AND x.response_time_ns > p.request_end_ns
        AND x.response_time_ns < p.response_time_ns
    WHERE p.queue_ns > 0
    GROUP BY p.exchange
)
SELECT
    e.exchange,
    e.request_time_ns,
    e.api_name,
    e.api_version,
    e.kind,
    e.client_id,
    e.client_address,
    e.client_port,
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
    e.throttle_time_ms,
    e.error_code,
    q.path AS request_path,
    e.request_packet,
    a.path AS response_path,
    e.response_packet,
    b.behind_exchange,
    b.behind_api_name,
    b.behind_kind,
    b.behind_latency_ns
FROM picked AS e
    LEFT JOIN behind AS b ON b.exchange = e.exchange
    LEFT JOIN captures AS q ON q.file = e.request_file
    LEFT JOIN captures AS a ON a.file = e.response_file
ORDER BY CAST(e.latency_ns AS DOUBLE) + coalesce(e.send_ns, 0) DESC, e.request_time_ns, e.exchange
