-- Parts told by client and broker instead of by side, with their verdict. A connection is Kafka when a reply matched a
-- request, a request header stood exactly where the frame before it ended, or a request was decoded to its last byte, or
-- when it speaks in frames to an endpoint that is a broker by such a proof. It is not when its bytes were something else.
-- Where nothing says who the client is, the side that spoke first stands for it.
WITH told AS (
    SELECT
        p.part,
        t.connection,
        coalesce(t.client_side, 0) AS client_side,
        t.protocol,
        CASE
            WHEN t.matched > 0 OR t.chained > 0 OR w.part IS NOT NULL THEN true
            WHEN t.protocol IN ('tls', 'other') THEN false
        END AS proof,
        p.first_time_ns,
        p.last_time_ns,
        CASE WHEN p.syn % 2 = 1 THEN 'syn' ELSE 'midstream' END AS seen_from,
        p.close,
        p.rtt_ns,
        p.syn_ack_ns,
        p.ack_ns,
        t.requests,
        t.matched + t.orphans AS replies,
        t.tokens,
        CASE WHEN t.client_side = 1 THEN p.b_address ELSE p.a_address END AS client_address,
        CASE WHEN t.client_side = 1 THEN p.a_address ELSE p.b_address END AS broker_address,
        CASE WHEN t.client_side = 1 THEN p.b_port ELSE p.a_port END AS client_port,
        CASE WHEN t.client_side = 1 THEN p.a_port ELSE p.b_port END AS broker_port,
        CASE WHEN t.client_side = 1 THEN p.b_packets ELSE p.a_packets END AS client_packets,
        CASE WHEN t.client_side = 1 THEN p.a_packets ELSE p.b_packets END AS broker_packets,
        CASE WHEN t.client_side = 1 THEN p.b_bytes ELSE p.a_bytes END AS client_bytes,
        CASE WHEN t.client_side = 1 THEN p.a_bytes ELSE p.b_bytes END AS broker_bytes,
        CASE WHEN t.client_side = 1 THEN p.b_retransmitted ELSE p.a_retransmitted END AS client_retransmitted,
        CASE WHEN t.client_side = 1 THEN p.a_retransmitted ELSE p.b_retransmitted END AS broker_retransmitted,
        CASE WHEN t.client_side = 1 THEN p.b_reordered ELSE p.a_reordered END AS client_reordered,
        CASE WHEN t.client_side = 1 THEN p.a_reordered ELSE p.b_reordered END AS broker_reordered,
        CASE WHEN t.client_side = 1 THEN p.b_gaps ELSE p.a_gaps END AS client_gaps,
        CASE WHEN t.client_side = 1 THEN p.a_gaps ELSE p.b_gaps END AS broker_gaps,
        CASE WHEN t.client_side = 1 THEN p.b_gap_bytes ELSE p.a_gap_bytes END AS client_gap_bytes,
        CASE WHEN t.client_side = 1 THEN p.a_gap_bytes ELSE p.b_gap_bytes END AS broker_gap_bytes,
        CASE WHEN t.client_side = 1 THEN p.b_conflicts ELSE p.a_conflicts END AS client_conflicts,
        CASE WHEN t.client_side = 1 THEN p.a_conflicts ELSE p.b_conflicts END AS broker_conflicts,
        CASE WHEN t.client_side = 1 THEN p.b_zero_windows ELSE p.a_zero_windows END AS client_zero_windows,
        CASE WHEN t.client_side = 1 THEN p.a_zero_windows ELSE p.b_zero_windows END AS broker_zero_windows,
        CASE WHEN t.client_side = 1 THEN t.b_stream_bytes ELSE t.a_stream_bytes END AS client_stream_bytes,
        CASE WHEN t.client_side = 1 THEN t.a_stream_bytes ELSE t.b_stream_bytes END AS broker_stream_bytes,
        CASE WHEN t.client_side = 1 THEN t.b_framed_bytes ELSE t.a_framed_bytes END AS client_framed_bytes,
        CASE WHEN t.client_side = 1 THEN t.a_framed_bytes ELSE t.b_framed_bytes END AS broker_framed_bytes,
        CASE WHEN t.client_side = 1 THEN t.b_unsynced_bytes ELSE t.a_unsynced_bytes END AS client_unsynced_bytes,
        CASE WHEN t.client_side = 1 THEN t.a_unsynced_bytes ELSE t.b_unsynced_bytes END AS broker_unsynced_bytes,
        CASE WHEN t.client_side = 1 THEN t.b_lost_bytes ELSE t.a_lost_bytes END AS client_lost_bytes,
        CASE WHEN t.client_side = 1 THEN t.a_lost_bytes ELSE t.b_lost_bytes END AS broker_lost_bytes,
        CASE WHEN t.client_side = 1 THEN t.b_bad_bytes ELSE t.a_bad_bytes END AS client_bad_bytes,
        CASE WHEN t.client_side = 1 THEN t.a_bad_bytes ELSE t.b_bad_bytes END AS broker_bad_bytes,
        CASE WHEN t.client_side = 1 THEN t.b_unfinished_bytes ELSE t.a_unfinished_bytes END AS client_unfinished_bytes,
        CASE WHEN t.client_side = 1 THEN t.a_unfinished_bytes ELSE t.b_unfinished_bytes END AS broker_unfinished_bytes,
        CASE WHEN t.client_side = 1 THEN t.b_foreign_bytes ELSE t.a_foreign_bytes END AS client_foreign_bytes,
        CASE WHEN t.client_side = 1 THEN t.a_foreign_bytes ELSE t.b_foreign_bytes END AS broker_foreign_bytes,
        CASE WHEN t.client_side = 1 THEN t.b_headerless_bytes ELSE t.a_headerless_bytes END AS client_headerless_bytes,
        CASE WHEN t.client_side = 1 THEN t.a_headerless_bytes ELSE t.b_headerless_bytes END AS broker_headerless_bytes
    FROM raw_parts AS p
    JOIN raw_talks AS t ON t.part = p.part
    LEFT JOIN raw_whole AS w ON w.part = p.part
),
brokers AS (
    SELECT broker_address, broker_port FROM told WHERE proof GROUP BY broker_address, broker_port
)
SELECT
    told.*,
    CASE WHEN proof OR (proof IS NULL AND requests > 0 AND brokers.broker_port IS NOT NULL) THEN true ELSE proof END
        AS is_kafka
FROM told
LEFT JOIN brokers ON brokers.broker_address = told.broker_address AND brokers.broker_port = told.broker_port
