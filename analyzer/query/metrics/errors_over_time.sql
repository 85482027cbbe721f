-- How many error codes come when, and how many of them are normal operation? One row per time slot in which any came, those between
-- brokers apart: `count` codes, of which `expected` are normal, `unjudged` nobody judged and `unexpected` are neither or unjudged.
WITH told AS (
    SELECT
        NOT is_client(x.role) AS between_brokers,
        CASE WHEN s.every_ns > 0 THEN coalesce(x.response_time_ns, x.request_time_ns)
            - coalesce(x.response_time_ns, x.request_time_ns) % s.every_ns END AS slot_ns,
        e.expected
    FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange CROSS JOIN settings AS s
)
SELECT
    slot_ns,
    between_brokers,
    count(*) AS count,
    count(*) FILTER (WHERE expected) AS expected,
    count(*) FILTER (WHERE expected IS NULL) AS unjudged,
    count(*) - count(*) FILTER (WHERE expected) AS unexpected
FROM told
GROUP BY slot_ns, between_brokers
ORDER BY slot_ns, between_brokers
