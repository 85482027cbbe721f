-- Exchanges with the parts of their latency, which add up to it: what a throttle took (throttle_part_ns), the broker (broker_part_ns),
-- proxies before it (proxy_part_ns), the replies before (queue_part_ns), the network (network_ns). Where it is not known how long the
-- broker took, its part is what is sure of it, and what is left is nobody's (unknown_ns). All null where the latency is unknown, or
-- what came before.
SELECT
    *,
    CASE WHEN is_known THEN throttle_part END AS throttle_part_ns,
    CASE WHEN is_known THEN broker_part END AS broker_part_ns,
    CASE WHEN is_known THEN least(coalesce(proxy_ns, 0), rest) END AS proxy_part_ns,
    CASE WHEN is_known THEN least(queue_ns, greatest(rest - coalesce(proxy_ns, 0), 0)) END AS queue_part_ns,
    CASE WHEN is_known THEN CASE WHEN broker_ns IS NULL THEN 0 ELSE greatest(rest - coalesce(proxy_ns, 0) - queue_ns, 0) END END AS network_ns,
    CASE WHEN is_known THEN CASE WHEN broker_ns IS NOT NULL THEN 0 ELSE greatest(rest - coalesce(proxy_ns, 0) - queue_ns, 0) END END
        AS unknown_ns
FROM (
    SELECT
        *,
        latency_ns - throttle_part - broker_part AS rest,
        latency_ns IS NOT NULL AND queue_ns IS NOT NULL AND throttle_part IS NOT NULL
            AND coalesce(broker_ns, broker_min_ns) IS NOT NULL AS is_known
    FROM (
        SELECT *, least(coalesce(broker_ns, broker_min_ns), latency_ns - throttle_part) AS broker_part
        FROM (SELECT *, least(coalesce(throttle_ns, muted_ns), latency_ns) AS throttle_part FROM exchanges) AS e
    ) AS e
) AS e
