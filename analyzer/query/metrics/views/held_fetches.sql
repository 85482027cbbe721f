-- Consumers whose records wait at the broker: one row per client. `times` of its `fetches` with records were answered when their
-- whole fetch.max.wait.ms was over (`max_wait_ms`, the longest), though records were there by then: fewer bytes than
-- fetch.min.bytes. Who asks for one byte is answered with the first record, and a broker that is late itself takes longer. Two
-- seconds at least, and half of the Fetches with records: whom it concerns, waits for all it reads. Where more records lie behind
-- those that came, the client does not let one Fetch bring as many bytes as it waits for: nearly all of 20 or more Fetches, 500 ms
-- each and no more than 100 ms late.
WITH waited AS (
    SELECT
        *,
        latency_ns - CAST(max_wait_ms AS BIGINT) * ms(1) AS late_ns,
        kind = 'fetch_backlog' AS has_more
    FROM exchanges
    -- Replies with records; a large report does not read `record_bytes`.
    WHERE kind IN ('fetch_tail', 'fetch_backlog') AND is_client(role) AND coalesce(replica_id, -1) < 0 AND status = 'answered'
        AND coalesce(throttle_time_ms, 0) = 0 AND no_error(error_code)
),
judged AS (
    SELECT
        *,
        coalesce(min_bytes > 1 AND late_ns >= -ms(10), false)
            AND CASE WHEN has_more THEN max_wait_ms >= 500 AND late_ns <= ms(100) ELSE max_wait_ms >= 2000 AND late_ns <= ms(500) END
            AS is_held
    FROM waited
),
clients AS (
    SELECT
        who() AS who,
        client_address,
        count(*) AS fetches,
        count(*) FILTER (WHERE is_held AND NOT has_more) AS tails,
        count(*) FILTER (WHERE is_held AND has_more) AS starved,
        max(max_wait_ms) FILTER (WHERE is_held) AS max_wait_ms,
        min(exchange) FILTER (WHERE is_held AND NOT has_more) AS evidence_tail,
        min(exchange) FILTER (WHERE is_held AND has_more) AS evidence_starved,
        min(request_time_ns) AS first_time_ns,
        max(response_time_ns) AS last_time_ns
    FROM judged
    GROUP BY who(), client_address
),
told AS (
    SELECT *, starved >= 20 AND starved * 10 >= fetches * 9 AS is_starved FROM clients
)
SELECT
    who,
    client_address,
    fetches,
    CASE WHEN is_starved THEN starved ELSE tails END AS times,
    max_wait_ms,
    CASE WHEN is_starved THEN 'one Fetch may bring fewer bytes than' ELSE 'fewer bytes had come than' END AS why,
    CASE
        WHEN is_starved THEN 'More records lie there each time, so what one Fetch may bring (max.partition.fetch.bytes for each partition) is less than fetch.min.bytes, and the broker waits in vain: lower fetch.min.bytes below it, or raise that limit.'
        ELSE 'A broker answers when fetch.min.bytes are there, or after fetch.max.wait.ms: lower one of them where records are to arrive sooner. Where the client means to read large pieces, this is by design.'
    END AS advice,
    CASE WHEN is_starved THEN 'medium' END AS severity,
    CASE WHEN is_starved THEN starved ELSE tails END AS weight,
    CASE WHEN is_starved THEN evidence_starved ELSE evidence_tail END AS evidence_held,
    first_time_ns,
    last_time_ns
FROM told
WHERE is_starved OR tails >= 3 AND tails * 2 >= fetches
