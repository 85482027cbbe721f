-- Ways that were at their limit, by packets that waited in a queue before the capture: one row per way.
-- A packet that passed the capture while the next one was in the queue already (it waited for longer than the time between the
-- two) tells what the link carried in that time. Blocks of 20 such packets of a full link have one rate, whoever sent them. Ways
-- are tried from wide to narrow: all that a host sends or receives, what goes between two hosts, and both directions of that
-- together (a limit of a machine may count both). 66 bytes of headers for each packet are those of Ethernet, IPv4 and TCP.
-- Each step reads the one before it once: an engine that plans what it reads twice as two would plan the packets many times.
WITH ways AS (
    SELECT
        w.width,
        CASE w.width WHEN 2 THEN p.client_address ELSE p.broker_address END AS host,
        CASE WHEN w.width >= 3 THEN p.client_address END AS peer,
        CASE
            WHEN w.width = 4 THEN 'both directions together'
            WHEN p.sender = 'client' THEN 'to brokers'
            ELSE 'to clients'
        END AS direction,
        p.tap,
        p.connection,
        p.client_address,
        p.broker_address,
        p.broker_port,
        p.time_ns,
        p.bytes + 66 AS bytes,
        p.waited_ns
    FROM queued_packets AS p
    CROSS JOIN (VALUES (1), (2), (3), (4)) AS w (width)
),
spaced AS (
    SELECT *, time_ns - lag(time_ns) OVER (PARTITION BY tap, width, host, peer, direction ORDER BY time_ns) AS gap_ns
    FROM ways
),
numbered AS (
    SELECT
        *,
        floor((row_number() OVER (PARTITION BY tap, width, host, peer, direction ORDER BY time_ns) - 1) / 20) AS block
    FROM spaced
    WHERE waited_ns > 3000000 AND gap_ns <= waited_ns - 1000000
),
-- Each packet with what its block carried, and for how long; null where the block is not complete.
blocked AS (
    SELECT
        *,
        CASE WHEN count(*) OVER block = 20 THEN nullif(sum(gap_ns) OVER block, 0) END AS block_ns,
        sum(bytes) OVER block AS block_bytes,
        sum(bytes) OVER (PARTITION BY tap, width, host, peer, direction, connection) AS connection_bytes,
        sum(bytes) OVER (
            PARTITION BY tap, width, host, peer, direction, CASE width WHEN 1 THEN client_address ELSE broker_address END
        ) AS peer_bytes
    FROM numbered
    WINDOW block AS (PARTITION BY tap, width, host, peer, direction, block)
),
senders AS (
    SELECT
        connection,
        min(coalesce(client_id, client_address)) AS who,
        max(CASE WHEN is_client THEN 1 ELSE 0 END) AS is_client
    FROM totals
    GROUP BY connection
),
told AS (
    SELECT
        b.tap,
        b.width,
        b.host,
        b.direction,
        sum(b.bytes) FILTER (WHERE b.block_ns IS NOT NULL) * 8e9
        / sum(b.gap_ns) FILTER (WHERE b.block_ns IS NOT NULL) AS limit_bits_per_s,
        CAST(sum(b.gap_ns) FILTER (WHERE b.block_ns IS NOT NULL) AS BIGINT) AS busy_ns,
        max(b.waited_ns) AS most_waited_ns,
        -- Brokers share the link, and are no clients; one is named where it is alone.
        max_by(
            coalesce(s.who, b.client_address),
            (coalesce(s.is_client, 0), b.connection_bytes, coalesce(s.who, b.client_address))
        ) AS who,
        greatest(count(DISTINCT CASE WHEN s.is_client = 1 THEN s.who END), 1) AS clients,
        -- A few packets of others that were held up elsewhere do not make it their link.
        (
            (b.width = 1 AND count(DISTINCT b.client_address) >= 2)
            OR (b.width = 2 AND count(DISTINCT b.broker_address) >= 2)
        ) AND max(b.peer_bytes) <= 0.95 * sum(b.bytes) AS is_wide,
        min(b.client_address) AS client_address,
        min(b.broker_address) AS broker_address,
        min(
            CASE WHEN b.broker_address LIKE '%:%' THEN '[' || b.broker_address || ']' ELSE b.broker_address END
            || ':' || CAST(b.broker_port AS STRING)
        ) AS broker,
        min(b.time_ns) AS first_time_ns,
        max(b.time_ns) AS last_time_ns
    FROM blocked AS b
    LEFT JOIN senders AS s ON s.connection = b.connection
    GROUP BY b.tap, b.width, b.host, b.peer, b.direction
    HAVING count(b.block_ns) >= 100 AND sum(b.gap_ns) FILTER (WHERE b.block_ns IS NOT NULL) >= 200000000
        AND percentile_disc(0.9) WITHIN GROUP (ORDER BY CAST(b.block_bytes AS DOUBLE) / b.block_ns)
            <= 1.05 * percentile_disc(0.1) WITHIN GROUP (ORDER BY CAST(b.block_bytes AS DOUBLE) / b.block_ns)
),
-- What is narrow is told where nothing wider is.
beside AS (
    SELECT
        *,
        bool_or(is_wide AND width = 1) OVER (PARTITION BY tap, broker_address, direction)
        OR bool_or(is_wide AND width = 2) OVER (PARTITION BY tap, client_address, direction) AS is_part,
        bool_or(is_wide AND width = 1) OVER (PARTITION BY tap, broker_address)
        OR bool_or(is_wide AND width = 2) OVER (PARTITION BY tap, client_address)
        OR bool_or(width = 3) OVER (PARTITION BY tap, client_address, broker_address) AS is_sum
    FROM told
),
widest AS (
    SELECT * FROM beside WHERE is_wide OR (width = 3 AND NOT is_part) OR (width = 4 AND NOT is_sum)
)
SELECT
    CASE w.width
        WHEN 1 THEN 'of ' || w.broker
        WHEN 2 THEN 'of the clients at ' || w.client_address
        ELSE 'between ' || w.client_address || ' and ' || w.broker
    END AS place,
    w.direction,
    w.limit_bits_per_s,
    w.who,
    w.clients,
    w.busy_ns,
    w.most_waited_ns,
    CASE WHEN w.width <> 2 THEN w.broker END AS broker,
    CASE WHEN w.width <> 2 THEN w.broker_address END AS broker_address,
    CASE WHEN w.width <> 1 THEN w.client_address END AS client_address,
    max_by(x.exchange, (coalesce(x.there_ns, 0) + coalesce(x.back_ns, 0), x.exchange)) AS evidence_longest,
    w.first_time_ns,
    w.last_time_ns
FROM widest AS w
LEFT JOIN exchanges AS x
    ON (w.width = 2 OR x.broker_address = w.broker_address)
        AND (w.width = 1 OR x.client_address = w.client_address)
        AND x.request_time_ns BETWEEN w.first_time_ns AND w.last_time_ns
GROUP BY
    w.width, w.direction, w.limit_bits_per_s, w.who, w.clients, w.busy_ns, w.most_waited_ns, w.broker, w.broker_address,
    w.client_address, w.first_time_ns, w.last_time_ns
