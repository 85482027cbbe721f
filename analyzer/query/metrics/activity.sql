-- How much happens when, and for whom? One row per time slot and key (`settings`; API and kind when none is named): sums, which can be
-- added over slots. Bytes are whole messages; `waited_ns` is the sum of latencies, `parts_` are sums over the `parts_known` requests
-- whose time is known part by part; `errors` and `throttled` are null where none was found, but replies could not be read. The 60 busiest keys have rows of their own, all others together those with `is_rest`.
WITH keyed AS (
    SELECT
        q.slot_ns,
        q.role <> 'client' AS between_brokers,
        coalesce(k.reach, CASE WHEN q.own_kind IS NULL THEN 'broker' ELSE 'mixed' END) AS reach,
        q.api_name, q.kind, q.api_version, q.client_id, q.client_address, q.principal, q.broker_id, q.broker_address,
        q.broker_port, q.connection, q.group_id, q.topic,
        count(*) AS requests,
        count(q.measured_ns) AS answered,
        count(*) FILTER (WHERE q.has_error) AS errors,
        count(*) FILTER (WHERE q.throttle_time_ms > 0) AS throttled,
        count(*) FILTER (WHERE q.is_unread) AS unread,
        sum(q.request_bytes) AS request_bytes,
        sum(q.response_bytes) AS response_bytes,
        sum(q.measured_ns) AS waited_ns,
        max(q.measured_ns) AS max_ns,
        count(*) FILTER (WHERE q.parts_known) AS parts_known,
        sum(q.send_ns) FILTER (WHERE q.parts_known) AS parts_send_ns,
        sum(q.queue_ns) FILTER (WHERE q.parts_known) AS parts_queue_ns,
        sum(q.muted_ns) FILTER (WHERE q.parts_known) AS parts_muted_ns,
        sum(q.proxy_ns) FILTER (WHERE q.parts_known) AS parts_proxy_ns,
        sum(q.broker_ns) FILTER (WHERE q.parts_known) AS parts_broker_ns,
        sum(q.network_ns) FILTER (WHERE q.parts_known) AS parts_network_ns,
        sum(q.unknown_ns) FILTER (WHERE q.parts_known) AS parts_unknown_ns,
        sum(q.receive_ns) FILTER (WHERE q.parts_known) AS parts_receive_ns
    FROM request_slices AS q LEFT JOIN kinds AS k ON k.kind = q.own_kind
    GROUP BY ALL
),
numbered AS (
    SELECT
        *,
        dense_rank() OVER (
            ORDER BY
                between_brokers, api_name IS NULL, api_name, kind IS NULL, kind, api_version IS NULL, api_version,
                client_id IS NULL, client_id, client_address IS NULL, client_address, principal IS NULL, principal,
                broker_id IS NULL, broker_id, broker_address IS NULL, broker_address, broker_port IS NULL,
                broker_port, connection IS NULL, connection, group_id IS NULL, group_id, topic IS NULL, topic
        ) AS number
    FROM keyed
),
totalled AS (
    SELECT *, sum(requests) OVER (PARTITION BY number) AS total FROM numbered
),
placed AS (
    SELECT *, dense_rank() OVER (ORDER BY total DESC, number) > 60 AS is_rest FROM totalled
)
SELECT
    slot_ns,
    is_rest,
    between_brokers,
    reach,
    CASE WHEN NOT is_rest THEN api_name END AS api_name,
    CASE WHEN NOT is_rest THEN kind END AS kind,
    CASE WHEN NOT is_rest THEN api_version END AS api_version,
    CASE WHEN NOT is_rest THEN client_id END AS client_id,
    CASE WHEN NOT is_rest THEN client_address END AS client_address,
    CASE WHEN NOT is_rest THEN principal END AS principal,
    CASE WHEN NOT is_rest THEN broker_id END AS broker_id,
    CASE WHEN NOT is_rest THEN broker_address END AS broker_address,
    CASE WHEN NOT is_rest THEN broker_port END AS broker_port,
    CASE WHEN NOT is_rest THEN connection END AS connection,
    CASE WHEN NOT is_rest THEN group_id END AS group_id,
    CASE WHEN NOT is_rest THEN topic END AS topic,
    CAST(sum(requests) AS BIGINT) AS requests,
    CAST(sum(answered) AS BIGINT) AS answered,
    CASE WHEN sum(errors) > 0 OR sum(unread) = 0 THEN CAST(sum(errors) AS BIGINT) END AS errors,
    CASE WHEN sum(throttled) > 0 OR sum(unread) = 0 THEN CAST(sum(throttled) AS BIGINT) END AS throttled,
    CAST(sum(unread) AS BIGINT) AS unread_replies,
    CAST(coalesce(sum(request_bytes), 0) AS BIGINT) AS request_bytes,
    CAST(coalesce(sum(response_bytes), 0) AS BIGINT) AS response_bytes,
    TRY_CAST(sum(waited_ns) AS BIGINT) AS waited_ns,
    max(max_ns) AS max_ns,
    CAST(sum(parts_known) AS BIGINT) AS parts_known,
    TRY_CAST(sum(parts_send_ns) AS BIGINT) AS parts_send_ns,
    TRY_CAST(sum(parts_queue_ns) AS BIGINT) AS parts_queue_ns,
    TRY_CAST(sum(parts_muted_ns) AS BIGINT) AS parts_muted_ns,
    TRY_CAST(sum(parts_proxy_ns) AS BIGINT) AS parts_proxy_ns,
    TRY_CAST(sum(parts_broker_ns) AS BIGINT) AS parts_broker_ns,
    TRY_CAST(sum(parts_network_ns) AS BIGINT) AS parts_network_ns,
    TRY_CAST(sum(parts_unknown_ns) AS BIGINT) AS parts_unknown_ns,
    TRY_CAST(sum(parts_receive_ns) AS BIGINT) AS parts_receive_ns
FROM placed
GROUP BY
    slot_ns, is_rest, between_brokers, reach,
    CASE WHEN NOT is_rest THEN api_name END, CASE WHEN NOT is_rest THEN kind END,
    CASE WHEN NOT is_rest THEN api_version END, CASE WHEN NOT is_rest THEN client_id END,
    CASE WHEN NOT is_rest THEN client_address END, CASE WHEN NOT is_rest THEN principal END,
    CASE WHEN NOT is_rest THEN broker_id END, CASE WHEN NOT is_rest THEN broker_address END,
    CASE WHEN NOT is_rest THEN broker_port END, CASE WHEN NOT is_rest THEN connection END,
    CASE WHEN NOT is_rest THEN group_id END, CASE WHEN NOT is_rest THEN topic END
ORDER BY
    slot_ns, is_rest, requests DESC, between_brokers, reach, api_name, kind, api_version, client_id, client_address, principal,
    broker_id, broker_address, broker_port, connection, group_id, topic
