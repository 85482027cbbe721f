-- Which ways between clients and brokers stand out, and for what? One row per way and `what`: dead (no packet got through, `times`, at
-- least for `least_ns`, at most for `waited_ns`, while `others` were answered), full (at `bits_per_s` for `waited_ns`, packets queued for up
-- to `queued_ns`; where only a queue and loss tell it, half of them for that time and more, and `share` were lost), unscaled (no window scaling: `bytes` in flight, `part` waited for `waited_ns`, or `times` large messages), small_window (a
-- receive buffer of `bytes`), held (`times` pieces of messages waited 40 ms each), loss (`times` of `packets` were lost, `felt_share` of the
-- slowest requests went there), oversized (the broker closed `times` connections within requests of `bytes`), protocol (`times` connections
-- spoke `part`, and the port `place`), large (`times` requests of `bytes` and more had no answer, those of up to `answered_bytes` had). idle_closed (the broker
-- closed `times` connections after `least_ns` without traffic, which were used `waited_ns` later), hung_up (`times` connections ended
-- `waited_ns` after their first request, a `place`), rest (`times` requests of
-- which the rest left `waited_ns` after the beginning), answer (`times` connections
-- were answered in `part`). `client_address` or `broker` is null where there are several. The worst of each first.
SELECT * FROM (
SELECT
    'dead' AS what, CAST(NULL AS STRING) AS place, client_address, broker, who, CAST(NULL AS STRING) AS part, times,
    CAST(NULL AS BIGINT) AS packets, CAST(NULL AS DOUBLE) AS share, CAST(NULL AS DOUBLE) AS felt_share,
    CAST(NULL AS BIGINT) AS bytes, CAST(NULL AS BIGINT) AS answered_bytes, CAST(NULL AS DOUBLE) AS bits_per_s, CAST(NULL AS BIGINT) AS rtt_ns, CAST(NULL AS BIGINT) AS queued_ns, least_ns,
    silent_ns AS waited_ns, others, weight, connection, first_time_ns, last_time_ns
FROM dead_lines
UNION ALL
SELECT
    'full' AS what, place, client_address, broker, who, direction AS part, CAST(NULL AS BIGINT) AS times,
    CAST(NULL AS BIGINT) AS packets, lost_share AS share, CAST(NULL AS DOUBLE) AS felt_share,
    CAST(NULL AS BIGINT) AS bytes, CAST(NULL AS BIGINT) AS answered_bytes, limit_bits_per_s AS bits_per_s, CAST(NULL AS BIGINT) AS rtt_ns, coalesce(most_waited_ns, waited_ns) AS queued_ns,
    CAST(NULL AS BIGINT) AS least_ns, busy_ns AS waited_ns, others, weight,
    CAST(NULL AS BIGINT) AS connection, first_time_ns, last_time_ns
FROM links_at_limit
UNION ALL
SELECT
    'unscaled' AS what, CAST(NULL AS STRING) AS place, client_address, broker, who, sender AS part,
    transfers AS times, CAST(NULL AS BIGINT) AS packets, CAST(NULL AS DOUBLE) AS share,
    CAST(NULL AS DOUBLE) AS felt_share, window_bytes AS bytes, CAST(NULL AS BIGINT) AS answered_bytes, CAST(NULL AS DOUBLE) AS bits_per_s,
    CAST(NULL AS BIGINT) AS rtt_ns, CAST(NULL AS BIGINT) AS queued_ns, CAST(NULL AS BIGINT) AS least_ns, waited_ns, others, weight, connection,
    first_time_ns, last_time_ns
FROM unscaled_ways
UNION ALL
SELECT
    'small_window' AS what, CAST(NULL AS STRING) AS place, client_address, broker, who, sender AS part,
    CAST(NULL AS BIGINT) AS times, CAST(NULL AS BIGINT) AS packets, CAST(NULL AS DOUBLE) AS share,
    CAST(NULL AS DOUBLE) AS felt_share, window_bytes AS bytes, CAST(NULL AS BIGINT) AS answered_bytes, CAST(NULL AS DOUBLE) AS bits_per_s,
    round_trip_ns AS rtt_ns, CAST(NULL AS BIGINT) AS queued_ns, CAST(NULL AS BIGINT) AS least_ns, waited_ns, CAST(NULL AS BIGINT) AS others, weight,
    connection, first_time_ns, last_time_ns
FROM small_windows
UNION ALL
SELECT
    'held' AS what, CAST(NULL AS STRING) AS place, client_address, broker, who, sender AS part, times,
    CAST(NULL AS BIGINT) AS packets, CAST(NULL AS DOUBLE) AS share, CAST(NULL AS DOUBLE) AS felt_share,
    CAST(NULL AS BIGINT) AS bytes, CAST(NULL AS BIGINT) AS answered_bytes, CAST(NULL AS DOUBLE) AS bits_per_s, CAST(NULL AS BIGINT) AS rtt_ns, CAST(NULL AS BIGINT) AS queued_ns,
    CAST(NULL AS BIGINT) AS least_ns, CAST(NULL AS BIGINT) AS waited_ns, CAST(NULL AS BIGINT) AS others, weight,
    connection, first_time_ns, last_time_ns
FROM held_pieces
UNION ALL
SELECT
    'loss' AS what, place, client_address, broker_address AS broker, CAST(NULL AS STRING) AS who, side AS part,
    lost AS times, packets, lost_share AS share, slow_share AS felt_share, CAST(NULL AS BIGINT) AS bytes,
    CAST(NULL AS BIGINT) AS answered_bytes, CAST(NULL AS DOUBLE) AS bits_per_s, CAST(NULL AS BIGINT) AS rtt_ns, CAST(NULL AS BIGINT) AS queued_ns, CAST(NULL AS BIGINT) AS least_ns,
    CAST(NULL AS BIGINT) AS waited_ns, peers AS others, weight, connection, first_time_ns, last_time_ns
FROM lossy_ways
UNION ALL
SELECT
    'oversized' AS what, CAST(NULL AS STRING) AS place, client_address, broker, who, CAST(NULL AS STRING) AS part,
    times, CAST(NULL AS BIGINT) AS packets, CAST(NULL AS DOUBLE) AS share, CAST(NULL AS DOUBLE) AS felt_share,
    request_bytes AS bytes, CAST(NULL AS BIGINT) AS answered_bytes, CAST(NULL AS DOUBLE) AS bits_per_s, CAST(NULL AS BIGINT) AS rtt_ns,
    CAST(NULL AS BIGINT) AS queued_ns, CAST(NULL AS BIGINT) AS least_ns, CAST(NULL AS BIGINT) AS waited_ns,
    CAST(NULL AS BIGINT) AS others, weight, CAST(NULL AS BIGINT) AS connection, first_time_ns, last_time_ns
FROM oversized_requests
UNION ALL
SELECT
    'protocol' AS what, expected AS place, client_address, broker, who, spoken AS part, times,
    CAST(NULL AS BIGINT) AS packets, CAST(NULL AS DOUBLE) AS share, CAST(NULL AS DOUBLE) AS felt_share,
    CAST(NULL AS BIGINT) AS bytes, CAST(NULL AS BIGINT) AS answered_bytes, CAST(NULL AS DOUBLE) AS bits_per_s, CAST(NULL AS BIGINT) AS rtt_ns,
    CAST(NULL AS BIGINT) AS queued_ns, CAST(NULL AS BIGINT) AS least_ns, CAST(NULL AS BIGINT) AS waited_ns,
    CAST(NULL AS BIGINT) AS others, weight, connection, first_time_ns, last_time_ns
FROM wrong_protocols
UNION ALL
SELECT
    'large' AS what, CAST(NULL AS STRING) AS place, client_address, broker, who, sender AS part, coalesce(requests, replies) AS times,
    CAST(NULL AS BIGINT) AS packets, CAST(NULL AS DOUBLE) AS share, CAST(NULL AS DOUBLE) AS felt_share, smallest_bytes AS bytes,
    answered_bytes, CAST(NULL AS DOUBLE) AS bits_per_s, CAST(NULL AS BIGINT) AS rtt_ns, CAST(NULL AS BIGINT) AS queued_ns,
    CAST(NULL AS BIGINT) AS least_ns, CAST(NULL AS BIGINT) AS waited_ns, CAST(NULL AS BIGINT) AS others, weight,
    CAST(NULL AS BIGINT) AS connection, first_time_ns, last_time_ns
FROM large_packets_lost
UNION ALL
SELECT
    'idle_closed' AS what, CAST(NULL AS STRING) AS place, client_address, broker, who, CAST(NULL AS STRING) AS part, times,
    CAST(NULL AS BIGINT) AS packets, CAST(NULL AS DOUBLE) AS share, CAST(NULL AS DOUBLE) AS felt_share, CAST(NULL AS BIGINT) AS bytes,
    CAST(NULL AS BIGINT) AS answered_bytes, CAST(NULL AS DOUBLE) AS bits_per_s, CAST(NULL AS BIGINT) AS rtt_ns,
    CAST(NULL AS BIGINT) AS queued_ns, idle_ns AS least_ns, later_ns AS waited_ns, CAST(NULL AS BIGINT) AS others, weight,
    connection, first_time_ns, last_time_ns
FROM idle_closes
UNION ALL
SELECT
    'hung_up' AS what, api_name AS place, client_address, broker, who, ends AS part, times,
    CAST(NULL AS BIGINT) AS packets, CAST(NULL AS DOUBLE) AS share, CAST(NULL AS DOUBLE) AS felt_share, CAST(NULL AS BIGINT) AS bytes,
    CAST(NULL AS BIGINT) AS answered_bytes, CAST(NULL AS DOUBLE) AS bits_per_s, CAST(NULL AS BIGINT) AS rtt_ns,
    CAST(NULL AS BIGINT) AS queued_ns, CAST(NULL AS BIGINT) AS least_ns, after_ns AS waited_ns, CAST(NULL AS BIGINT) AS others, weight,
    connection, first_time_ns, last_time_ns
FROM early_hangups
UNION ALL
SELECT
    'rest' AS what, CAST(NULL AS STRING) AS place, client_address, broker, who, CAST(NULL AS STRING) AS part, times,
    CAST(NULL AS BIGINT) AS packets, CAST(NULL AS DOUBLE) AS share, CAST(NULL AS DOUBLE) AS felt_share, CAST(NULL AS BIGINT) AS bytes,
    CAST(NULL AS BIGINT) AS answered_bytes, CAST(NULL AS DOUBLE) AS bits_per_s, CAST(NULL AS BIGINT) AS rtt_ns,
    CAST(NULL AS BIGINT) AS queued_ns, CAST(NULL AS BIGINT) AS least_ns, held_ns AS waited_ns, CAST(NULL AS BIGINT) AS others, weight,
    connection, first_time_ns, last_time_ns
FROM late_rests
UNION ALL
SELECT
    'answer' AS what, CAST(NULL AS STRING) AS place, client_address, broker, who, speaks AS part, times,
    CAST(NULL AS BIGINT) AS packets, CAST(NULL AS DOUBLE) AS share, CAST(NULL AS DOUBLE) AS felt_share, CAST(NULL AS BIGINT) AS bytes,
    CAST(NULL AS BIGINT) AS answered_bytes, CAST(NULL AS DOUBLE) AS bits_per_s, CAST(NULL AS BIGINT) AS rtt_ns,
    CAST(NULL AS BIGINT) AS queued_ns, CAST(NULL AS BIGINT) AS least_ns, CAST(NULL AS BIGINT) AS waited_ns,
    CAST(NULL AS BIGINT) AS others, weight, connection, first_time_ns, last_time_ns
FROM foreign_answers
) AS ways
ORDER BY what, weight DESC, client_address, broker, part, first_time_ns
