-- What do brokers ask of each other, and how long does it take? One row per role, API and kind, or by what `settings` asks
-- for; latency in ns. Of a follower's fetches (by client and broker) `with_data` brought records, `late_ns` is the most that a
-- reply came after max_wait_ms: a follower's fetch waits for data, so only what goes beyond is slow. `gap_ns` is the longest time from
-- a reply to the follower's next fetch on the same connection (null: there was no next one).
WITH asked AS (
    SELECT
        *,
        request_time_ns - max(response_end_ns) OVER (
            PARTITION BY connection ORDER BY request_time_ns, exchange ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS gap_ns
    FROM exchanges
    WHERE kind = 'fetch_follower'
),
fetches AS (
    SELECT
        client_address,
        client_id,
        broker_address,
        broker_port,
        max(replica_id) AS replica_id,
        count(*) FILTER (WHERE record_bytes > 0) AS with_data,
        CAST(sum(record_bytes) AS BIGINT) AS record_bytes,
        greatest(max(latency_ns - greatest(CAST(max_wait_ms AS BIGINT), 0) * ms(1)), 0) AS late_ns,
        max_by(exchange, latency_ns - greatest(CAST(max_wait_ms AS BIGINT), 0) * ms(1)) AS late_exchange,
        -- Below zero the next one was sent before the reply had come.
        CASE WHEN max(gap_ns) IS NOT NULL THEN greatest(max(gap_ns), 0) END AS gap_ns
    FROM asked
    GROUP BY client_address, client_id, broker_address, broker_port
)
SELECT
    l.slot_ns,
    l.role,
    l.reach,
    l.api_name,
    l.kind,
    l.api_version,
    l.client_id,
    l.client_address,
    f.replica_id,
    l.broker_id,
    l.broker_address,
    l.broker_port,
    l.connection,
    l.topic,
    l.count,
    l.answered,
    l.count * 1e9 / nullif(r.captured_ns, 0) AS rate_per_s,
    l.p50_ns,
    l.p99_ns,
    l.max_ns,
    l.errors,
    l.throttled,
    coalesce(l.request_bytes + l.response_bytes, l.request_bytes, l.response_bytes) AS bytes,
    f.with_data,
    f.record_bytes,
    f.late_ns,
    f.late_exchange,
    f.gap_ns
FROM latency_slices AS l
    CROSS JOIN settings AS s
    CROSS JOIN time_range AS r
    LEFT JOIN fetches AS f
        ON l.kind = 'fetch_follower'
        AND f.client_address = l.client_address
        AND coalesce(f.client_id, '') = coalesce(l.client_id, '')
        AND f.broker_address = l.broker_address
        AND f.broker_port = l.broker_port
WHERE l.role <> 'client'
ORDER BY l.slot_ns, l.role,
    CASE l.reach WHEN 'wait' THEN 2 WHEN 'mixed' THEN 1 ELSE 0 END,
    CASE s.sort
        WHEN 'count' THEN l.count WHEN 'p99' THEN l.p99_ns WHEN 'max' THEN l.max_ns WHEN 'errors' THEN l.errors
        ELSE CAST(l.p99_ns AS DOUBLE) * l.count
    END DESC NULLS LAST,
    l.count DESC, l.api_name, l.kind, l.client_id, l.client_address, l.broker_id,
    l.broker_address, l.broker_port, l.api_version, l.connection, l.topic
