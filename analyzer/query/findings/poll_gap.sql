-- severity: medium
-- rank: 16
-- when: group_events having min(CAST(rebalance_timeout_ms AS BIGINT)) FILTER (WHERE rebalance_timeout_ms > 0) * 1000000 <= (SELECT max(last_time_ns - first_time_ns) FROM time_range)
-- says: {who} (group {group_id}) did not fetch for {gap_ns}, beyond its max poll interval ({interval_ms}), while its heartbeats went on
-- do: Records take longer than max.poll.interval.ms: hand on fewer at a time (max.poll.records), or work elsewhere than in the poll loop.
-- look: kanalyze groups[ --group {group_id}]
-- The rebalance timeout of a join is the client's max.poll.interval.ms. Not told where the client had nothing to fetch from here.
WITH members AS (
    SELECT
        group_id,
        client_id,
        client_address,
        max(rebalance_timeout_ms) AS interval_ms
    FROM group_events
    WHERE event = 'join' AND group_type = 'classic' AND rebalance_timeout_ms > 0
    GROUP BY group_id, client_id, client_address
    HAVING CAST(max(rebalance_timeout_ms) AS BIGINT) * 1000000 <= (SELECT max(last_time_ns - first_time_ns) FROM time_range)
),
clients AS (
    SELECT client_id, client_address FROM members GROUP BY client_id, client_address
),
fetches AS (
    SELECT
        x.client_id,
        x.client_address,
        x.exchange,
        x.request_time_ns,
        lag(x.exchange) OVER following AS earlier,
        lag(x.response_end_ns) OVER following AS earlier_ns
    FROM exchanges AS x JOIN clients AS c
        ON c.client_id IS NOT DISTINCT FROM x.client_id AND c.client_address = x.client_address
    WHERE x.api_key = 1 AND coalesce(x.replica_id, -1) < 0 AND x.request_time_ns IS NOT NULL
    WINDOW following AS (PARTITION BY x.client_id, x.client_address ORDER BY x.request_time_ns, x.exchange)
),
gaps AS (
    SELECT
        m.group_id,
        coalesce(f.client_id, f.client_address) AS who,
        m.interval_ms,
        f.client_id,
        f.client_address,
        f.exchange,
        f.earlier,
        f.earlier_ns,
        f.request_time_ns
    FROM fetches AS f JOIN members AS m
        ON m.client_id IS NOT DISTINCT FROM f.client_id AND m.client_address = f.client_address
    WHERE f.request_time_ns - f.earlier_ns >= CAST(m.interval_ms AS BIGINT) * 1000000
)
SELECT
    g.group_id,
    g.who,
    g.interval_ms,
    g.request_time_ns - g.earlier_ns AS gap_ns,
    g.request_time_ns - g.earlier_ns AS weight,
    g.earlier AS evidence_before,
    g.exchange AS evidence_after,
    g.earlier_ns AS first_time_ns,
    g.request_time_ns AS last_time_ns
FROM gaps AS g JOIN exchanges AS h
    ON h.api_name = 'Heartbeat' AND h.group_id = g.group_id AND h.client_id IS NOT DISTINCT FROM g.client_id
    AND h.client_address = g.client_address AND h.request_time_ns > g.earlier_ns
    AND h.request_time_ns < g.request_time_ns
GROUP BY g.group_id, g.who, g.interval_ms, g.request_time_ns, g.earlier_ns, g.earlier, g.exchange
HAVING count(*) >= 3
