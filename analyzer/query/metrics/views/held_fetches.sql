-- Consumers whose records wait at the broker: one row per client. `times` of its `fetches` with records were answered when their whole
-- fetch.max.wait.ms was over (`max_wait_ms`, the longest), though records were there by then: fewer bytes than fetch.min.bytes. Who asks
-- for one byte is answered with the first record, and a broker that is late itself takes longer. Two seconds at least, and half of the
-- Fetches with records: whom it concerns, waits for all it reads.
SELECT
    who() AS who,
    client_address,
    count(*) AS fetches,
    count(*) FILTER (WHERE is_held) AS times,
    max(max_wait_ms) FILTER (WHERE is_held) AS max_wait_ms,
    count(*) FILTER (WHERE is_held) AS weight,
    min(exchange) FILTER (WHERE is_held) AS evidence_held,
    min(request_time_ns) AS first_time_ns,
    max(response_time_ns) AS last_time_ns
FROM (
    SELECT
        *,
        kind = 'fetch_tail' AND max_wait_ms >= 2000 AND min_bytes > 1
            AND latency_ns BETWEEN CAST(max_wait_ms AS BIGINT) * ms(1) - ms(10) AND CAST(max_wait_ms AS BIGINT) * ms(1) + ms(500) AS is_held
    FROM exchanges
    -- Replies with records; a large report does not read `record_bytes`.
    WHERE kind IN ('fetch_tail', 'fetch_backlog') AND is_client(role) AND coalesce(replica_id, -1) < 0 AND status = 'answered'
        AND coalesce(throttle_time_ms, 0) = 0 AND no_error(error_code)
) AS x
GROUP BY who(), client_address
HAVING count(*) FILTER (WHERE is_held) >= 3 AND count(*) FILTER (WHERE is_held) * 2 >= count(*)
