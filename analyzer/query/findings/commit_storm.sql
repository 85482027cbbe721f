-- severity: info
-- rank: 13
-- when: exchange_sorts having sum(exchanges) FILTER (WHERE api_key = api('OffsetCommit')) >= 200 OR sum(latencies_ns) FILTER (WHERE api_key = api('OffsetCommit')) >= ms(2500)
-- says: {who} (group {group_id}) commits its offsets up to {worst_per_s} on one connection, {requests|time|times} in all[, which took {took_ns} together]
-- do: Commit once for all records of a poll, or by time (auto.commit.interval.ms), not after each record: every commit is written to all replicas of __consumer_offsets, and the consumer waits for it.
-- look: kanalyze clients[ --client {who}]
-- explains: lag_growing
-- delays: nobody
-- Twenty a second on one connection, over five seconds at least, of two hundred commits or more; or, where commits take long, five a
-- second, one after the other, that took half of it. Told are all commits of the client to the group.
WITH seconds AS (
    SELECT
        connection,
        who() AS who,
        group_id,
        CAST(floor(request_time_ns / 1e9) AS BIGINT) AS second,
        count(*) AS n,
        coalesce(sum(latency_ns), 0) AS took_ns,
        count(*) >= 20
            OR (count(*) >= 5 AND sum(latency_ns) >= ms(500) AND sum(latency_ns) - max(latency_ns) <= s(1)) IS TRUE AS is_busy,
        min(exchange) AS exchange,
        min(request_time_ns) AS first_ns,
        max(request_time_ns) AS last_ns
    FROM exchanges
    WHERE api_key = api('OffsetCommit') AND request_time_ns IS NOT NULL
    GROUP BY connection, who(), group_id, CAST(floor(request_time_ns / 1e9) AS BIGINT)
),
links AS (
    SELECT
        who,
        group_id,
        connection,
        count(*) FILTER (WHERE is_busy) >= 5 AS busy,
        TRY_CAST(sum(took_ns) AS BIGINT) AS took_ns,
        max(n) AS most,
        sum(n) AS requests,
        max_by(exchange, (n, exchange)) AS exchange,
        min(first_ns) FILTER (WHERE is_busy) AS first_ns,
        max(last_ns) FILTER (WHERE is_busy) AS last_ns
    FROM seconds
    GROUP BY who, group_id, connection
)
SELECT
    who,
    group_id,
    max_by(connection, (most, connection)) AS connection,
    max(most) * 1e0 AS worst_per_s,
    CAST(sum(requests) AS BIGINT) AS requests,
    CASE WHEN max(most) < 20 THEN TRY_CAST(sum(took_ns) AS BIGINT) END AS took_ns,
    CAST(sum(requests) AS BIGINT) AS weight,
    max_by(exchange, (most, exchange)) AS evidence_worst,
    min(first_ns) FILTER (WHERE busy) AS first_time_ns,
    max(last_ns) FILTER (WHERE busy) AS last_time_ns
FROM links
GROUP BY who, group_id
HAVING bool_or(busy)
