-- Connections that their own host redirects to an address where nothing answers, as at a sidecar without a broker behind it. All its
-- interfaces see requests under the new address and the other side's ACKs under the old one, which have no content: two halves, of
-- which `part` has the requests and `other` what came back, with its address and its end. Else one would think that only requests
-- were captured. What is answered is in `redirected_legs`.
WITH asking AS (
    SELECT
        p.part,
        p.tap_number,
        p.first_time_ns,
        p.last_time_ns,
        p.syn,
        CASE WHEN t.client_side = 1 THEN p.b_address ELSE p.a_address END AS client_address,
        CASE WHEN t.client_side = 1 THEN p.b_port ELSE p.a_port END AS client_port,
        CASE WHEN t.client_side = 1 THEN p.a_address ELSE p.b_address END AS broker_address,
        CASE WHEN t.client_side = 1 THEN p.a_port ELSE p.b_port END AS broker_port
    FROM raw_parts AS p JOIN raw_framed_parts AS t ON t.part = p.part
    WHERE t.client_side IS NOT NULL AND t.requests > 0 AND t.matched + t.orphans = 0
        AND CASE WHEN t.client_side = 1 THEN p.a_packets ELSE p.b_packets END = 0
),
silent AS (
    SELECT
        part, tap_number, first_time_ns, last_time_ns, syn, close, end_side, end_time_ns,
        a_address AS client_address, a_port AS client_port, b_address AS broker_address, b_port AS broker_port,
        1 AS broker_side, b_packets AS packets, b_bytes AS bytes, b_wire_bytes AS wire_bytes
    FROM raw_parts
    WHERE a_packets = 0 AND b_packets > 0 AND b_stream_bytes + b_gap_bytes = 0
    UNION ALL
    SELECT
        part, tap_number, first_time_ns, last_time_ns, syn, close, end_side, end_time_ns,
        b_address, b_port, a_address, a_port, 0, a_packets, a_bytes, a_wire_bytes
    FROM raw_parts
    WHERE b_packets = 0 AND a_packets > 0 AND a_stream_bytes + a_gap_bytes = 0
),
pairs AS (
    SELECT
        x.part,
        y.part AS other,
        x.broker_address,
        x.broker_port,
        y.broker_address AS reached_address,
        y.broker_port AS reached_port,
        y.packets,
        y.bytes,
        y.wire_bytes,
        y.last_time_ns,
        y.close,
        y.end_time_ns,
        CASE WHEN y.close = 'none' THEN NULL WHEN y.end_side = y.broker_side THEN 'broker' WHEN y.end_side >= 0 THEN 'client' END AS closed_by,
        CASE WHEN x.syn % 2 = 1 THEN y.first_time_ns - x.first_time_ns END AS syn_ack_ns,
        row_number() OVER (PARTITION BY x.part ORDER BY y.first_time_ns, y.part) AS place,
        row_number() OVER (PARTITION BY y.part ORDER BY x.first_time_ns, x.part) AS from_place
    FROM asking AS x
    JOIN silent AS y ON y.tap_number = x.tap_number AND y.client_address = x.client_address AND y.client_port = x.client_port
    -- What answers a SYN comes at once.
    WHERE CASE WHEN x.syn % 2 = 1 THEN y.syn >= 2 AND y.first_time_ns BETWEEN x.first_time_ns AND x.first_time_ns + s(1)
        ELSE y.syn = 0 AND y.first_time_ns <= x.last_time_ns + s(1) AND y.last_time_ns >= x.first_time_ns END
)
SELECT * EXCLUDE (place, from_place) FROM pairs WHERE place = 1 AND from_place = 1
