-- Ways that were at their limit, by packets that waited in a queue before the capture: one row per way.
-- A packet that passed the capture while the next one was in the queue already (it waited for longer than the time between the
-- two) tells what the link carried in that time. Blocks of 20 such packets of a full link have one rate, whoever sent them. Ways
-- are tried from wide to narrow: all that a host sends or receives, what goes between two hosts, and both directions of that
-- together (a limit of a machine may count both). 66 bytes of headers for each packet are those of Ethernet, IPv4 and TCP.
-- Packets pass as few numbers, with a number for their way: there may be millions. One step gathers them by block and by connection,
-- since an engine that plans what it reads twice as two would sort them twice.
WITH senders AS (
    SELECT
        connection,
        min(who()) AS who,
        max(CASE WHEN is_client THEN 1 ELSE 0 END) AS is_client
    FROM totals
    GROUP BY connection
),
-- Both directions of each connection, with the four ways that they belong to, numbered.
sides AS (
    SELECT DISTINCT tap, connection, sender, client_address, broker_address, broker_port FROM queued_packets
),
ways AS (
    SELECT
        p.connection,
        p.sender,
        p.tap,
        w.width,
        CASE w.width WHEN 2 THEN p.client_address ELSE p.broker_address END AS host,
        CASE
            WHEN w.width = 4 THEN 'both directions together'
            WHEN p.sender = 'client' THEN 'to brokers'
            ELSE 'to clients'
        END AS direction,
        dense_rank() OVER (
            ORDER BY
                p.tap,
                w.width,
                CASE w.width WHEN 2 THEN p.client_address ELSE p.broker_address END,
                CASE WHEN w.width >= 3 THEN p.client_address END,
                CASE WHEN w.width < 4 THEN p.sender END
        ) AS way,
        p.client_address,
        p.broker_address,
        CASE WHEN p.broker_address LIKE '%:%' THEN '[' || p.broker_address || ']' ELSE p.broker_address END
        || ':' || CAST(p.broker_port AS STRING) AS broker,
        coalesce(s.who, p.client_address) AS who,
        coalesce(s.is_client, 0) AS is_client
    FROM sides AS p
    CROSS JOIN (VALUES (1), (2), (3), (4)) AS w (width)
    LEFT JOIN senders AS s ON s.connection = p.connection
),
spaced AS (
    SELECT
        w.way,
        p.connection,
        p.time_ns,
        p.bytes + 66 AS bytes,
        p.waited_ns,
        p.time_ns - lag(p.time_ns) OVER (PARTITION BY w.way ORDER BY p.time_ns) AS gap_ns
    FROM queued_packets AS p
    JOIN ways AS w ON w.connection = p.connection AND w.sender = p.sender
),
numbered AS (
    SELECT *, floor((row_number() OVER (PARTITION BY way ORDER BY time_ns) - 1) / 20) AS block
    FROM spaced
    WHERE waited_ns > ms(3) AND gap_ns <= waited_ns - ms(1)
),
-- Blocks, and connections (in their rows `block` is null), in one pass; times are those of blocks that are complete.
gathered AS (
    SELECT
        way,
        block,
        connection,
        sum(bytes) AS bytes,
        CASE WHEN block IS NOT NULL AND count(*) = 20 THEN nullif(sum(gap_ns), 0) END AS block_ns,
        max(waited_ns) AS most_waited_ns,
        min(time_ns) AS first_time_ns,
        max(time_ns) AS last_time_ns
    FROM numbered
    GROUP BY GROUPING SETS ((way, block), (way, connection))
),
blocks AS (
    SELECT
        way,
        sum(bytes) * 8e9 / sum(block_ns) AS limit_bits_per_s,
        CAST(sum(block_ns) AS BIGINT) AS busy_ns
    FROM gathered
    WHERE block_ns IS NOT NULL
    GROUP BY way
    HAVING count(*) >= 5 AND sum(block_ns) >= ms(200)
        AND percentile_disc(0.9) WITHIN GROUP (ORDER BY CAST(bytes AS DOUBLE) / block_ns)
            <= 1.05 * percentile_disc(0.1) WITHIN GROUP (ORDER BY CAST(bytes AS DOUBLE) / block_ns)
),
-- Connections of a way whose blocks have one rate.
members AS (
    SELECT
        w.*,
        b.limit_bits_per_s,
        b.busy_ns,
        g.bytes,
        sum(g.bytes) OVER (
            PARTITION BY w.way, CASE w.width WHEN 1 THEN w.client_address ELSE w.broker_address END
        ) AS peer_bytes,
        g.most_waited_ns,
        g.first_time_ns,
        g.last_time_ns
    FROM (
        SELECT DISTINCT
            way, tap, width, host, direction, connection, client_address, broker_address, broker, who, is_client
        FROM ways
    ) AS w
    JOIN gathered AS g ON g.way = w.way AND g.connection = w.connection
    JOIN blocks AS b ON b.way = w.way
),
told AS (
    SELECT
        tap,
        width,
        host,
        direction,
        limit_bits_per_s,
        busy_ns,
        max(most_waited_ns) AS most_waited_ns,
        -- Brokers share the link, and are no clients; one is named where it is alone.
        max_by(who, (is_client, bytes, who)) AS who,
        greatest(count(DISTINCT CASE WHEN is_client = 1 THEN who END), 1) AS clients,
        -- A few packets of others that were held up elsewhere do not make it their link.
        (
            (width = 1 AND count(DISTINCT client_address) >= 2)
            OR (width = 2 AND count(DISTINCT broker_address) >= 2)
        ) AND max(peer_bytes) <= 0.95 * sum(bytes) AS is_wide,
        min(client_address) AS client_address,
        min(broker_address) AS broker_address,
        min(broker) AS broker,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM members
    GROUP BY way, tap, width, host, direction, limit_bits_per_s, busy_ns
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
