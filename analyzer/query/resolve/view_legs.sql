-- Pairs of parts that may be one connection before and behind a translation of its addresses (legs). Translation leaves sequence
-- numbers and TCP timestamps alone, so both legs of a direction begin or end with the same number. `is_sure`: that proves it. Else
-- the numbers may be those of a writer of captures, who gives all connections the same ones, and `part_views` asks the exchanges.
WITH numbers AS (
    SELECT
        part,
        tap_number,
        unnest([
            a_start_seq, b_start_seq,
            (a_start_seq + a_stream_bytes + a_gap_bytes) % two_to(32), (b_start_seq + b_stream_bytes + b_gap_bytes) % two_to(32)
        ]) AS seq
    FROM raw_parts
),
-- What very many share are numbers that somebody made.
shared AS (
    SELECT tap_number, seq
    FROM numbers
    WHERE seq IS NOT NULL
    GROUP BY tap_number, seq
    HAVING min(part) < max(part) AND count(*) <= 64
),
ends AS (
    SELECT p.*, t.requests, t.a_framed_bytes, t.b_framed_bytes
    FROM raw_parts AS p
    JOIN raw_framed_parts AS t ON t.part = p.part
    WHERE p.part IN (
        SELECT n.part FROM numbers AS n JOIN shared AS s ON s.tap_number = n.tap_number AND s.seq = n.seq
    )
),
sides AS (
    SELECT
        part, tap_number, origin, first_time_ns, last_time_ns, syn, requests,
        a_address AS own_address, a_port AS own_port, b_address AS peer_address, b_port AS peer_port,
        a_start_seq AS seq, a_stream_bytes + a_gap_bytes AS bytes, b_start_seq AS peer_seq, b_stream_bytes + b_gap_bytes AS peer_bytes,
        a_lag_least_ns AS lag, b_lag_least_ns AS peer_lag, a_framed_bytes AS framed, b_framed_bytes AS peer_framed
    FROM ends
    UNION ALL
    SELECT
        part, tap_number, origin, first_time_ns, last_time_ns, syn, requests,
        b_address, b_port, a_address, a_port,
        b_start_seq, b_stream_bytes + b_gap_bytes, a_start_seq, a_stream_bytes + a_gap_bytes,
        b_lag_least_ns, a_lag_least_ns, b_framed_bytes, a_framed_bytes
    FROM ends
),
-- Random numbers are hardly ever round, and several connections of the same hosts do not have the same.
same_again AS (
    SELECT tap_number, seq
    FROM sides
    GROUP BY tap_number, seq, own_address, peer_address
    HAVING count(DISTINCT CAST(own_port AS BIGINT) * 65536 + peer_port) > 2
),
placed AS (
    SELECT
        s.*,
        coalesce(s.seq < 65536 OR s.seq % 1000 < 2 OR m.seq IS NOT NULL, false) AS is_made,
        unnest([s.seq, (s.seq + s.bytes) % two_to(32)]) AS number
    FROM sides AS s
    LEFT JOIN (SELECT DISTINCT tap_number, seq FROM same_again) AS m ON m.tap_number = s.tap_number AND m.seq = s.seq
),
met AS (
    SELECT
        x.part,
        y.part AS other,
        x.is_made OR y.is_made AS is_made,
        abs(x.first_time_ns - y.first_time_ns) AS apart_ns,
        x.seq = y.seq AND x.peer_seq = y.peer_seq AS is_same,
        coalesce(
            x.peer_seq = y.peer_seq OR (x.peer_seq + x.peer_bytes) % two_to(32) = (y.peer_seq + y.peer_bytes) % two_to(32), false
        ) AS is_same_peer,
        -- Of one clock the lags of both legs differ by the way between them, and by what the clocks of both hosts drift apart until
        -- the second one begins.
        CASE WHEN x.origin // two_to(20) = y.origin // two_to(20) THEN
            least(
                abs((x.lag - y.lag + lag_turns(1.5)) % lag_turns(1) - lag_turns(0.5)),
                abs((x.peer_lag - y.peer_lag + lag_turns(1.5)) % lag_turns(1) - lag_turns(0.5))
            )
        END AS lag_ns,
        x.requests > 0 AND x.requests = y.requests AND x.framed = y.framed AND x.peer_framed = y.peer_framed AS is_same_size
    FROM placed AS x
    JOIN placed AS y ON y.tap_number = x.tap_number AND y.number = x.number
    WHERE y.part < x.part
        AND (
            x.own_address <> y.own_address OR x.own_port <> y.own_port
            OR x.peer_address <> y.peer_address OR x.peer_port <> y.peer_port
        )
        AND greatest(x.first_time_ns, y.first_time_ns) - least(x.last_time_ns, y.last_time_ns) <= ms(100)
        AND (x.syn % 2 = 0 OR y.syn % 2 = 0 OR abs(x.first_time_ns - y.first_time_ns) <= s(1))
        AND (
            x.peer_seq IS NULL
            OR y.peer_seq IS NULL
            OR (x.peer_seq - y.peer_seq + two_to(32)) % two_to(32) <= y.peer_bytes
            OR (y.peer_seq - x.peer_seq + two_to(32)) % two_to(32) <= x.peer_bytes
        )
)
SELECT part, other, bool_or(NOT is_made) AS is_sure
FROM met
WHERE coalesce(lag_ns <= ms(20) + apart_ns / 1000, true)
    AND CASE WHEN is_made THEN is_same AND apart_ns <= ms(100) AND is_same_size
        ELSE lag_ns IS NOT NULL OR is_same_peer OR apart_ns <= ms(100) END
GROUP BY part, other
