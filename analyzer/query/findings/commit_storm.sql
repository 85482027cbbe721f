-- severity: info
-- rank: 13
-- when: exchanges having count(*) FILTER (WHERE api_key = 8) >= 200
-- says: {who} (group {group_id}) commits its offsets up to {worst_per_s}[ on each of {links} connections], {requests|time|times} in all
-- do: Commit once for all records of a poll, or by time (auto.commit.interval.ms), not after each record: every commit is written to all replicas of __consumer_offsets, and the consumer waits for it.
-- look: kanalyze exchanges[ --client {who}] --api OffsetCommit
-- Twenty a second on one connection, over five seconds at least.
WITH seconds AS (
    SELECT
        connection,
        coalesce(max(client_id), max(client_address)) AS who,
        max(group_id) AS group_id,
        CAST(floor(request_time_ns / 1e9) AS BIGINT) AS at_second,
        count(*) AS n,
        min(exchange) AS exchange,
        min(request_time_ns) AS first_ns,
        max(request_time_ns) AS last_ns
    FROM exchanges
    WHERE api_key = 8 AND request_time_ns IS NOT NULL
    GROUP BY connection, CAST(floor(request_time_ns / 1e9) AS BIGINT)
),
busy AS (
    SELECT
        who,
        group_id,
        connection,
        max(n) AS most,
        sum(n) AS requests,
        max_by(exchange, (n, exchange)) AS exchange,
        min(first_ns) AS first_ns,
        max(last_ns) AS last_ns
    FROM seconds
    WHERE n >= 20
    GROUP BY who, group_id, connection
    HAVING count(*) >= 5
)
SELECT
    who,
    group_id,
    CASE WHEN count(*) = 1 THEN max(connection) END AS connection,
    CASE WHEN count(*) > 1 THEN count(*) END AS links,
    max(most) * 1e0 AS worst_per_s,
    CAST(sum(requests) AS BIGINT) AS requests,
    CAST(sum(requests) AS BIGINT) AS weight,
    max_by(exchange, (most, exchange)) AS evidence_worst,
    min(first_ns) AS first_time_ns,
    max(last_ns) AS last_time_ns
FROM busy
GROUP BY who, group_id
