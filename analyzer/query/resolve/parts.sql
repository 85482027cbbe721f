-- Parts by client and broker instead of by side, and whether they are Kafka. A part is Kafka when a reply matched a request, a
-- request header followed exactly where the frame before it ended, or a request was decoded to its last byte; or when it has
-- frames and its broker endpoint is proved to be a broker by another part. It is not Kafka when its bytes were of another
-- protocol, or when no body of it fits its API and version, whatever its lengths say (`is_misread`): other protocols frame their
-- messages with a length and small numbers, too. `framed_parts` says which side is the client.
WITH most AS (
    SELECT coalesce(max(view_number), 0) AS views FROM raw_parts
),
judged AS MATERIALIZED (
    SELECT
        p.part,
        coalesce(t.client_side, 0) AS client_side,
        CASE WHEN v.reached_port IS NOT NULL THEN v.reached_address WHEN t.client_side = 1 THEN p.a_address ELSE p.b_address END
            AS broker_address,
        CASE WHEN v.reached_port IS NOT NULL THEN v.reached_port WHEN t.client_side = 1 THEN p.a_port ELSE p.b_port END AS broker_port,
        CASE
            WHEN NOT s.decrypted THEN false
            WHEN t.chained > 0 OR (t.matched > 0 AND t.protocol <> 'unknown') OR w.part IS NOT NULL THEN true
            WHEN t.protocol IN ('tls', 'other') THEN false
        END AS proof,
        coalesce(
            e.bad_requests + e.bad_replies > 0 AND e.read_requests = 0 AND (e.read_replies = 0 OR e.bad_requests >= 3), false
        ) AS is_misread
    FROM raw_parts AS p
    JOIN framed_parts AS t ON t.part = p.part
    LEFT JOIN raw_whole AS w ON w.part = p.part
    LEFT JOIN raw_tls AS s ON s.part = p.part
    LEFT JOIN part_evidence AS e ON e.part = p.part
    LEFT JOIN part_views AS v ON v.part = p.part
),
brokers AS (
    SELECT broker_address, broker_port FROM judged WHERE proof AND NOT is_misread GROUP BY broker_address, broker_port
),
told AS (
    SELECT
        p.part,
        t.connection,
        j.client_side,
        CASE WHEN s.part IS NULL THEN t.protocol ELSE 'tls' END AS protocol,
        s.part IS NOT NULL OR t.protocol = 'tls' AS tls,
        s.version AS tls_version,
        s.cipher AS tls_cipher,
        s.server_name AS tls_server_name,
        s.alpn AS tls_alpn,
        CASE WHEN t.protocol = 'tls' THEN false ELSE s.decrypted END AS tls_decrypted,
        CASE WHEN t.protocol = 'tls' THEN coalesce(s.reason, 'no_handshake') ELSE s.reason END AS tls_reason,
        CASE WHEN s.handshake = 'finished' OR s.alert IS NOT NULL OR p.close <> 'none' THEN s.handshake END AS tls_handshake,
        s.alert AS tls_alert,
        CASE WHEN s.alert_side = j.client_side THEN 'client' WHEN s.alert_side >= 0 THEN 'broker' END AS tls_alert_from,
        s.subject AS tls_certificate,
        s.valid_from_ns AS tls_valid_from_ns,
        s.valid_until_ns AS tls_valid_until_ns,
        j.proof,
        j.is_misread,
        -- Where any connection was captured at several points, each interface of an input, and each point seen by one
        -- interface, is a capture point of its own.
        CASE
            WHEN (SELECT views FROM most) = 0 OR (p.origin % two_to(20) = 0 AND p.point = 0) THEN c.tap
            WHEN p.point = 0 THEN concat(c.tap, '.', CAST(p.origin % two_to(20) + 1 AS STRING))
            ELSE concat(c.tap, '.', CAST(p.origin % two_to(20) + 1 AS STRING), '/', CAST(p.point + 1 AS STRING))
        END AS tap,
        p.first_time_ns,
        greatest(p.last_time_ns, v.reached_last_ns) AS last_time_ns,
        CASE WHEN p.syn % 2 = 1 THEN 'syn' ELSE 'midstream' END AS seen_from,
        p.syn >= 2 OR v.reached_syn_ack_ns IS NOT NULL AS syn_ack_seen,
        -- What came back under another address (`silent_halves`) belongs to it.
        CASE WHEN p.close = 'none' THEN coalesce(v.reached_close, p.close) ELSE p.close END AS close,
        CASE WHEN p.close = 'none' AND v.reached_closed_by IS NOT NULL THEN v.reached_closed_by
            WHEN p.end_side = j.client_side THEN 'client' WHEN p.end_side >= 0 THEN 'broker' END AS closed_by,
        CASE WHEN p.close = 'none' THEN coalesce(v.reached_end_ns, p.end_time_ns) ELSE p.end_time_ns END AS close_time_ns,
        p.close = 'none' AND v.reached_close <> 'none' AS is_closed_elsewhere,
        p.rtt_ns,
        coalesce(p.syn_ack_ns, v.reached_syn_ack_ns) AS syn_ack_ns,
        p.ack_ns,
        -- A SYN and nothing else, of which there may be millions: `part_ways` has no row for it, `connections` what its row would say.
        j.client_side = 0 AND p.syn = 1 AND p.a_packets = 1 AND p.b_packets = 0 AND p.a_stream_bytes = 0
            AND p.a_data_packets = 0 AND p.a_late = 0 AND p.a_queued = 0 AND p.a_most_unacked = 1
            AS is_bare,
        p.a_wscale,
        p.a_mss,
        t.requests,
        t.matched + t.orphans AS replies,
        t.tokens,
        t.opening,
        t.proxied_for,
        t.broker_speaks,
        CASE WHEN j.client_side = 1 THEN p.b_address ELSE p.a_address END AS client_address,
        j.broker_address,
        CASE WHEN j.client_side = 1 THEN p.b_port ELSE p.a_port END AS client_port,
        j.broker_port,
        CASE WHEN j.client_side = 1 THEN p.b_packets ELSE p.a_packets END AS client_packets,
        CASE WHEN j.client_side = 1 THEN p.a_packets ELSE p.b_packets END + coalesce(v.reached_packets, 0) AS broker_packets,
        CASE WHEN j.client_side = 1 THEN p.b_bytes ELSE p.a_bytes END AS client_bytes,
        CASE WHEN j.client_side = 1 THEN p.a_bytes ELSE p.b_bytes END + coalesce(v.reached_bytes, 0) AS broker_bytes,
        CASE WHEN j.client_side = 1 THEN p.b_wire_bytes ELSE p.a_wire_bytes END AS client_wire_bytes,
        CASE WHEN j.client_side = 1 THEN p.a_wire_bytes ELSE p.b_wire_bytes END + coalesce(v.reached_wire_bytes, 0) AS broker_wire_bytes,
        CASE WHEN j.client_side = 1 THEN p.b_retransmitted ELSE p.a_retransmitted END AS client_retransmitted,
        CASE WHEN j.client_side = 1 THEN p.a_retransmitted ELSE p.b_retransmitted END AS broker_retransmitted,
        CASE WHEN j.client_side = 1 THEN p.b_reordered ELSE p.a_reordered END AS client_reordered,
        CASE WHEN j.client_side = 1 THEN p.a_reordered ELSE p.b_reordered END AS broker_reordered,
        CASE WHEN j.client_side = 1 THEN p.b_gaps ELSE p.a_gaps END AS client_gaps,
        CASE WHEN j.client_side = 1 THEN p.a_gaps ELSE p.b_gaps END AS broker_gaps,
        CASE WHEN j.client_side = 1 THEN p.b_gap_bytes ELSE p.a_gap_bytes END AS client_gap_bytes,
        CASE WHEN j.client_side = 1 THEN p.a_gap_bytes ELSE p.b_gap_bytes END AS broker_gap_bytes,
        CASE WHEN j.client_side = 1 THEN p.b_conflicts ELSE p.a_conflicts END AS client_conflicts,
        CASE WHEN j.client_side = 1 THEN p.a_conflicts ELSE p.b_conflicts END AS broker_conflicts,
        CASE WHEN j.client_side = 1 THEN p.b_damaged ELSE p.a_damaged END AS client_damaged,
        CASE WHEN j.client_side = 1 THEN p.a_damaged ELSE p.b_damaged END AS broker_damaged,
        CASE WHEN j.client_side = 1 THEN p.b_zero_windows ELSE p.a_zero_windows END AS client_zero_windows,
        CASE WHEN j.client_side = 1 THEN p.a_zero_windows ELSE p.b_zero_windows END AS broker_zero_windows,
        CASE WHEN j.client_side = 1 THEN p.b_stream_bytes ELSE p.a_stream_bytes END AS client_stream_bytes,
        CASE WHEN j.client_side = 1 THEN p.a_stream_bytes ELSE p.b_stream_bytes END AS broker_stream_bytes,
        coalesce(CASE WHEN j.client_side = 1 THEN s.b_overhead_bytes ELSE s.a_overhead_bytes END, 0) AS client_overhead_bytes,
        coalesce(CASE WHEN j.client_side = 1 THEN s.a_overhead_bytes ELSE s.b_overhead_bytes END, 0) AS broker_overhead_bytes,
        coalesce(CASE WHEN j.client_side = 1 THEN s.b_unread_bytes ELSE s.a_unread_bytes END, 0) AS client_encrypted_bytes,
        coalesce(CASE WHEN j.client_side = 1 THEN s.a_unread_bytes ELSE s.b_unread_bytes END, 0) AS broker_encrypted_bytes,
        CASE WHEN j.client_side = 1 THEN t.b_framed_bytes ELSE t.a_framed_bytes END AS client_framed_bytes,
        CASE WHEN j.client_side = 1 THEN t.a_framed_bytes ELSE t.b_framed_bytes END AS broker_framed_bytes,
        CASE WHEN j.client_side = 1 THEN t.b_unsynced_bytes ELSE t.a_unsynced_bytes END AS client_unsynced_bytes,
        CASE WHEN j.client_side = 1 THEN t.a_unsynced_bytes ELSE t.b_unsynced_bytes END AS broker_unsynced_bytes,
        CASE WHEN j.client_side = 1 THEN t.b_lost_bytes ELSE t.a_lost_bytes END AS client_lost_bytes,
        CASE WHEN j.client_side = 1 THEN t.a_lost_bytes ELSE t.b_lost_bytes END AS broker_lost_bytes,
        CASE WHEN j.client_side = 1 THEN t.b_bad_bytes ELSE t.a_bad_bytes END AS client_bad_bytes,
        CASE WHEN j.client_side = 1 THEN t.a_bad_bytes ELSE t.b_bad_bytes END AS broker_bad_bytes,
        CASE WHEN j.client_side = 1 THEN t.b_unfinished_bytes ELSE t.a_unfinished_bytes END AS client_unfinished_bytes,
        CASE WHEN j.client_side = 1 THEN t.a_unfinished_bytes ELSE t.b_unfinished_bytes END AS broker_unfinished_bytes,
        CASE WHEN j.client_side = 1 THEN t.b_foreign_bytes ELSE t.a_foreign_bytes END AS client_foreign_bytes,
        CASE WHEN j.client_side = 1 THEN t.a_foreign_bytes ELSE t.b_foreign_bytes END AS broker_foreign_bytes,
        CASE WHEN j.client_side = 1 THEN t.b_opening_bytes ELSE t.a_opening_bytes END AS client_opening_bytes,
        CASE WHEN j.client_side = 1 THEN t.a_opening_bytes ELSE t.b_opening_bytes END AS broker_opening_bytes,
        CASE WHEN j.client_side = 1 THEN t.b_begin ELSE t.a_begin END AS client_begin,
        CASE WHEN j.client_side = 1 THEN t.a_begin ELSE t.b_begin END AS broker_begin,
        CASE WHEN j.client_side = 1 THEN t.b_headerless_bytes ELSE t.a_headerless_bytes END AS client_headerless_bytes,
        CASE WHEN j.client_side = 1 THEN t.a_headerless_bytes ELSE t.b_headerless_bytes END AS broker_headerless_bytes,
        CASE WHEN j.client_side = 1 THEN t.b_cut_bytes ELSE t.a_cut_bytes END AS client_cut_bytes,
        CASE WHEN j.client_side = 1 THEN t.a_cut_bytes ELSE t.b_cut_bytes END AS broker_cut_bytes
    FROM raw_parts AS p
    JOIN judged AS j ON j.part = p.part
    JOIN raw_framed_parts AS t ON t.part = p.part
    LEFT JOIN raw_splits AS first_split ON first_split.split = p.first_split
    LEFT JOIN all_captures AS c ON c.file = first_split.file
    LEFT JOIN raw_tls AS s ON s.part = p.part
    LEFT JOIN part_views AS v ON v.part = p.part
)
SELECT
    told.* REPLACE (is_misread AND brokers.broker_port IS NULL AS is_misread),
    CASE WHEN is_misread AND brokers.broker_port IS NULL THEN false
        WHEN proof OR (proof IS NULL AND requests + replies > 0 AND brokers.broker_port IS NOT NULL) THEN true
        ELSE proof END
        AS is_kafka,
    -- Who sends on without a packet of the other side, and without sending again, gets its ACKs: they are not in the capture.
    CASE
        WHEN broker_packets = 0 AND client_stream_bytes > 0
            AND (seen_from = 'syn' OR (client_retransmitted * 10 <= client_packets AND last_time_ns - first_time_ns >= s(1)))
            THEN 'client'
        WHEN client_packets = 0 AND broker_stream_bytes > 0
            AND (syn_ack_seen OR (broker_retransmitted * 10 <= broker_packets AND last_time_ns - first_time_ns >= s(1)))
            THEN 'broker'
    END AS one_way
FROM told
LEFT JOIN brokers ON brokers.broker_address = told.broker_address AND brokers.broker_port = told.broker_port
