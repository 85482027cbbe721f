-- What the packets of each part tell of its way (`dissectors.tcp.timing`), by client and broker, one row per part; none of one that is
-- a SYN alone, which tells nothing of the others between its hosts either.
-- byte_ns: what a byte takes on the link between the two hosts, as packets tell that queued for it, either way; 0 where none did.
-- to_broker_ns: the time from the capture to the broker and back, at least, of all connections between the two hosts at one tap; 0
-- where the capture was taken beside the broker: below 0.3 ms, and no router in between has lowered its TTL. sure_to_broker_ns:
-- the same where the broker's kernel answered at once (a handshake, an ACK that was not delayed). Else the least is a reply or a
-- delayed ACK, of which the way is some part: 0. lag_least_ns:
-- the least lag of the packets of a side; what another one has more it spent in queues, at least. Null when there are no
-- timestamps, the clock of the capture jumped or they do not keep its time: a packet cannot leave before what it answers has arrived, so the least
-- lag is no less than its bound, but for a tick. lag_ns: the same where it is that of a packet that waited nowhere: it differs from
-- its bound by a tick and the way at most. trusts_ids: the side numbers its packets one after the other. is_quiet: on the way from the capture to the broker
-- and back hardly anything was lost and nothing waited; nor did packets wait before the capture, more than 3 in 100.
WITH sides AS (
    SELECT
        p.part,
        j.part IS NOT NULL AS has_jump,
        c.tap,
        c.client_address,
        c.broker_address,
        c.syn_ack_ns,
        c.ack_ns,
        CASE WHEN c.client_side = 1 THEN p.b_data_packets ELSE p.a_data_packets END AS client_data_packets,
        CASE WHEN c.client_side = 1 THEN p.a_data_packets ELSE p.b_data_packets END AS broker_data_packets,
        CASE WHEN c.client_side = 1 THEN p.b_late ELSE p.a_late END AS client_late,
        CASE WHEN c.client_side = 1 THEN p.a_late ELSE p.b_late END AS broker_late,
        CASE WHEN c.client_side = 1 THEN p.b_queued ELSE p.a_queued END AS client_queued,
        CASE WHEN c.client_side = 1 THEN p.a_queued ELSE p.b_queued END AS broker_queued,
        CASE WHEN c.client_side = 1 THEN p.b_retransmitted ELSE p.a_retransmitted END AS client_retransmitted,
        CASE WHEN c.client_side = 1 THEN p.a_retransmitted ELSE p.b_retransmitted END AS broker_retransmitted,
        CASE WHEN c.client_side = 1 THEN p.b_ip_steps ELSE p.a_ip_steps END AS client_ip_steps,
        CASE WHEN c.client_side = 1 THEN p.a_ip_steps ELSE p.b_ip_steps END AS broker_ip_steps,
        CASE WHEN c.client_side = 1 THEN p.b_ip_jumps ELSE p.a_ip_jumps END AS client_ip_jumps,
        CASE WHEN c.client_side = 1 THEN p.a_ip_jumps ELSE p.b_ip_jumps END AS broker_ip_jumps,
        CASE WHEN c.client_side = 1 THEN p.b_full_windows ELSE p.a_full_windows END AS client_full_windows,
        CASE WHEN c.client_side = 1 THEN p.a_full_windows ELSE p.b_full_windows END AS broker_full_windows,
        CASE WHEN c.client_side = 1 THEN p.b_full_window_ns ELSE p.a_full_window_ns END AS client_full_window_ns,
        CASE WHEN c.client_side = 1 THEN p.a_full_window_ns ELSE p.b_full_window_ns END AS broker_full_window_ns,
        CASE WHEN c.client_side = 1 THEN p.b_nagle ELSE p.a_nagle END AS client_nagle,
        CASE WHEN c.client_side = 1 THEN p.a_nagle ELSE p.b_nagle END AS broker_nagle,
        CASE WHEN c.client_side = 1 THEN p.b_needless ELSE p.a_needless END AS client_needless,
        CASE WHEN c.client_side = 1 THEN p.a_needless ELSE p.b_needless END AS broker_needless,
        p.a_paced + p.b_paced AS paced,
        p.a_paced_ns + p.b_paced_ns AS paced_ns,
        CASE WHEN c.client_side = 1 THEN p.b_ttl ELSE p.a_ttl END AS client_ttl,
        CASE WHEN c.client_side = 1 THEN p.a_ttl ELSE p.b_ttl END AS broker_ttl,
        CASE WHEN c.client_side = 1 THEN p.b_lag_least_ns ELSE p.a_lag_least_ns END AS client_lag_least_ns,
        CASE WHEN c.client_side = 1 THEN p.a_lag_least_ns ELSE p.b_lag_least_ns END AS broker_lag_least_ns,
        CASE WHEN c.client_side = 1 THEN p.b_lag_bound_ns ELSE p.a_lag_bound_ns END AS client_lag_bound_ns,
        CASE WHEN c.client_side = 1 THEN p.a_lag_bound_ns ELSE p.b_lag_bound_ns END AS broker_lag_bound_ns,
        CASE WHEN c.client_side = 1 THEN p.b_way_least_ns ELSE p.a_way_least_ns END AS client_way_least_ns,
        CASE WHEN c.client_side = 1 THEN p.a_way_least_ns ELSE p.b_way_least_ns END AS broker_way_least_ns,
        CASE WHEN c.client_side = 1 THEN p.b_way_count ELSE p.a_way_count END AS client_way_count,
        CASE WHEN c.client_side = 1 THEN p.a_way_count ELSE p.b_way_count END AS broker_way_count,
        CASE WHEN c.client_side = 1 THEN p.b_way_p50_ns ELSE p.a_way_p50_ns END AS client_way_p50_ns,
        CASE WHEN c.client_side = 1 THEN p.a_way_p50_ns ELSE p.b_way_p50_ns END AS broker_way_p50_ns,
        CASE WHEN c.client_side = 1 THEN p.b_way_p95_ns ELSE p.a_way_p95_ns END AS client_way_p95_ns,
        CASE WHEN c.client_side = 1 THEN p.a_way_p95_ns ELSE p.b_way_p95_ns END AS broker_way_p95_ns,
        CASE WHEN c.client_side = 1 THEN p.b_mss ELSE p.a_mss END AS client_mss,
        CASE WHEN c.client_side = 1 THEN p.a_mss ELSE p.b_mss END AS broker_mss,
        CASE WHEN c.client_side = 1 THEN p.b_wscale ELSE p.a_wscale END AS client_wscale,
        CASE WHEN c.client_side = 1 THEN p.a_wscale ELSE p.b_wscale END AS broker_wscale,
        CASE WHEN c.client_side = 1 THEN p.b_most_unacked ELSE p.a_most_unacked END AS client_most_unacked,
        CASE WHEN c.client_side = 1 THEN p.a_most_unacked ELSE p.b_most_unacked END AS broker_most_unacked
    FROM raw_parts AS p
    JOIN parts AS c ON c.part = p.part
    LEFT JOIN jumped_parts AS j ON j.part = p.part
    WHERE c.is_bare IS NOT TRUE
),
lags AS (
    SELECT
        *,
        (broker_lag_least_ns - broker_lag_bound_ns + lag_turns(1.5)) % lag_turns(1) - lag_turns(0.5)
            AS broker_lag_above_ns,
        (client_lag_least_ns - client_lag_bound_ns + lag_turns(1.5)) % lag_turns(1) - lag_turns(0.5)
            AS client_lag_above_ns
    FROM sides
),
queues AS (
    SELECT
        *,
        CASE WHEN client_lag_above_ns >= -ms(3) THEN client_queued ELSE 0 END
            + CASE WHEN broker_lag_above_ns >= -ms(3) THEN broker_queued ELSE 0 END AS queued_packets
    FROM lags
),
hosts AS (
    SELECT
        tap,
        client_address,
        broker_address,
        least(min(syn_ack_ns), min(client_way_least_ns)) AS to_broker_ns,
        least(min(ack_ns), min(broker_way_least_ns)) AS to_client_ns,
        min(syn_ack_ns) IS NOT NULL OR sum(client_way_count) > 0 AS is_measured,
        -- A few packets in a row may be as slow as their sender. No link is slower than 1 ms a byte.
        CASE WHEN sum(paced) >= 30000 THEN TRY_CAST(least(sum(CAST(paced_ns AS DOUBLE)) / sum(paced), ms(1)) AS BIGINT) ELSE 0 END
            AS byte_ns,
        max(CASE WHEN broker_ttl = 64 OR broker_ttl = 128 OR broker_ttl = 255 THEN 1 ELSE 0 END) = 1 AS is_near,
        NOT (sum(client_late + broker_late) >= 10 AND 100 * sum(client_late + broker_late) >= sum(client_data_packets + broker_data_packets))
            AND coalesce(max(CASE WHEN client_way_count >= 20 THEN client_way_p50_ns END) - min(client_way_least_ns), 0) < ms(3)
            AND NOT (
                sum(queued_packets) >= 10 AND 100 * sum(queued_packets) >= 3 * sum(client_data_packets + broker_data_packets)
            ) AS is_quiet
    FROM queues
    GROUP BY tap, client_address, broker_address
),
placed AS (
    SELECT
        s.*,
        h.to_broker_ns < 300000 AND h.is_near AS is_beside,
        CASE WHEN h.to_broker_ns < 300000 AND h.is_near THEN 0 ELSE h.to_broker_ns END AS to_broker_ns,
        h.is_measured,
        h.byte_ns,
        h.to_client_ns,
        h.is_quiet
    FROM lags AS s
    JOIN hosts AS h ON h.tap = s.tap AND h.client_address = s.client_address AND h.broker_address = s.broker_address
)
SELECT
    part,
    is_beside,
    is_quiet,
    to_broker_ns,
    CASE WHEN is_measured THEN to_broker_ns ELSE 0 END AS sure_to_broker_ns,
    to_client_ns,
    byte_ns,
    CASE WHEN NOT has_jump AND broker_lag_above_ns BETWEEN -ms(3) AND coalesce(to_broker_ns, 0) + ms(1) THEN broker_lag_least_ns END
        AS broker_lag_ns,
    CASE WHEN NOT has_jump AND client_lag_above_ns BETWEEN -ms(3) AND coalesce(to_client_ns, 0) + ms(1) THEN client_lag_least_ns END
        AS client_lag_ns,
    CASE WHEN NOT has_jump AND broker_lag_above_ns >= -ms(3) THEN broker_lag_least_ns END AS broker_lag_least_ns,
    CASE WHEN NOT has_jump AND client_lag_above_ns >= -ms(3) THEN client_lag_least_ns END AS client_lag_least_ns,
    10 * broker_ip_jumps <= broker_ip_jumps + broker_ip_steps AS trusts_ids,
    CAST(CASE WHEN client_wscale >= 0 THEN client_wscale END AS INTEGER) AS client_wscale,
    CAST(CASE WHEN broker_wscale >= 0 THEN broker_wscale END AS INTEGER) AS broker_wscale,
    CAST(least(client_mss, broker_mss) AS INTEGER) AS mss,
    client_most_unacked AS client_max_unacked_bytes,
    broker_most_unacked AS broker_max_unacked_bytes,
    least(syn_ack_ns, client_way_least_ns) AS to_broker_least_ns,
    client_way_p50_ns AS to_broker_p50_ns,
    client_way_p95_ns AS to_broker_p95_ns,
    client_way_count AS to_broker_acks,
    least(ack_ns, broker_way_least_ns) AS to_client_least_ns,
    broker_way_p50_ns AS to_client_p50_ns,
    broker_way_p95_ns AS to_client_p95_ns,
    broker_way_count AS to_client_acks,
    client_data_packets,
    broker_data_packets,
    greatest(client_late - client_retransmitted, 0) AS client_filled,
    greatest(broker_late - broker_retransmitted, 0) AS broker_filled,
    CASE WHEN client_ip_steps > 0 AND 10 * client_ip_jumps <= client_ip_jumps + client_ip_steps THEN client_ip_jumps END
        AS client_missing_ids,
    CASE WHEN broker_ip_steps > 0 AND 10 * broker_ip_jumps <= broker_ip_jumps + broker_ip_steps THEN broker_ip_jumps END
        AS broker_missing_ids,
    client_full_windows,
    broker_full_windows,
    client_full_window_ns,
    broker_full_window_ns,
    client_nagle AS client_held_small,
    broker_nagle AS broker_held_small,
    least(client_needless, client_retransmitted) AS client_needless,
    least(broker_needless, broker_retransmitted) AS broker_needless
FROM placed
