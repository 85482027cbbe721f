-- Which clients does a quota hold up for a second and more, and which send all the same? One row per client at an address and user: the
-- worst connection's share of its life in which it was muted (0 to 1) and the time that it lost by that, throttled `replies` of all and
-- what these told; then one per client that sent `sent_inside` requests in mutes, where all else is null. The most held first.
SELECT * FROM (
    SELECT
        who, host, principal, apis, muted_share, held_ns, told_ns, replies, CAST(NULL AS BIGINT) AS sent_inside, first_time_ns,
        last_time_ns
    FROM throttled_clients
    UNION ALL
    SELECT
        who, CAST(NULL AS STRING) AS host, CAST(NULL AS STRING) AS principal, CAST(NULL AS STRING) AS apis,
        CAST(NULL AS DOUBLE) AS muted_share, CAST(NULL AS BIGINT) AS held_ns, CAST(NULL AS BIGINT) AS told_ns,
        CAST(NULL AS BIGINT) AS replies, requests AS sent_inside, first_time_ns, last_time_ns
    FROM senders_while_muted
) AS clients
ORDER BY held_ns IS NULL, held_ns DESC, sent_inside DESC, who, host, principal
