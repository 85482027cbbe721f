-- What stands between clients and brokers, with both of its sides in the capture? Never filtered. One row per translation of addresses
-- (`sort` translation: connections that were captured on both sides count once, under the address that the client uses) or proxy
-- (proxy: requests that it carried on count once, as they came to it) or both on a client's own host (redirect: the rows are of what
-- its proxy sends; `behind` are the addresses before it), or translation behind which nothing answers (unanswered), or host that ends
-- TLS (tls: one row a broker to which it speaks plainly), with what clients reach and what is behind it
-- ("address:port"). `proxy_ns`: by how much the client's latency is longer than that behind the proxy, median; null: no replies.
-- `around`: requests that the proxy's clients sent to what is behind it by themselves; `is_named`: a reply named that address.
WITH carried AS (
    SELECT
        proxy_address, proxy_port, broker_address, broker_port, proxies,
        count(*) AS requests,
        count(DISTINCT from_connection) AS connections,
        CAST(floor(median(proxy_ns)) AS BIGINT) AS proxy_ns
    FROM all_forwards
    WHERE proxies > 0
    GROUP BY proxy_address, proxy_port, broker_address, broker_port, proxies
),
clients AS (
    SELECT proxy_address, proxy_port, broker_address, broker_port, client_address
    FROM all_forwards
    GROUP BY proxy_address, proxy_port, broker_address, broker_port, client_address
),
around AS (
    SELECT k.proxy_address, k.proxy_port, k.broker_address, k.broker_port, CAST(sum(t.exchanges) AS BIGINT) AS requests
    FROM clients AS k
    JOIN all_connections AS c
        ON c.broker_address = k.broker_address AND c.broker_port = k.broker_port AND c.client_address = k.client_address
    JOIN all_totals AS t ON t.connection = c.connection
    WHERE c.forwarded_from IS NULL AND t.status <> 'orphan_reply'
    GROUP BY k.proxy_address, k.proxy_port, k.broker_address, k.broker_port
),
-- A host to which clients speak TLS, and which speaks plainly to brokers at the same times, about as many bytes. A proxy connects
-- within 10 s (`resolve/proxy_parts.sql`); where it takes more than 2 s, both must end together, with sizes nearer to each other.
-- Those of slots of 2 s that are so near are compared: a host may have very many of both.
beside AS (
    SELECT
        p.connection,
        p.broker_address,
        p.broker_port,
        p.requests,
        t.broker_address AS proxy_address,
        t.broker_port AS proxy_port,
        p.first_time_ns > t.first_time_ns + s(2) AS is_late,
        CASE WHEN is_late THEN abs(p.last_time_ns - t.last_time_ns) ELSE abs(p.first_time_ns - t.first_time_ns) END AS apart_ns,
        row_number() OVER (PARTITION BY p.connection ORDER BY is_late, apart_ns, t.connection) AS place,
        row_number() OVER (PARTITION BY t.connection ORDER BY is_late, apart_ns, p.connection) AS from_place
    FROM (
        SELECT *, unnest(generate_series((first_time_ns - s(10)) // s(2), (first_time_ns + ms(1)) // s(2))) AS slot
        FROM all_connections
        WHERE is_kafka AND NOT tls AND forwarded_from IS NULL AND requests > 0
    ) AS p
    JOIN (
        SELECT *, first_time_ns // s(2) AS slot
        FROM all_connections
        WHERE protocol = 'tls' AND is_kafka IS NOT TRUE AND tls_handshake IS DISTINCT FROM 'failed'
    ) AS t ON t.broker_address = p.client_address AND t.tap = p.tap AND t.slot = p.slot
    -- Records have heads, and a handshake comes before them.
    WHERE p.first_time_ns BETWEEN t.first_time_ns - ms(1) AND t.first_time_ns + s(10)
        AND t.client_stream_bytes >= p.client_stream_bytes
        AND t.broker_stream_bytes >= p.broker_stream_bytes
        AND CASE
            WHEN NOT is_late THEN
                abs(p.last_time_ns - t.last_time_ns) <= s(5)
                AND t.client_stream_bytes <= p.client_stream_bytes * 2 + 10000
                AND t.broker_stream_bytes <= p.broker_stream_bytes * 2 + 20000
            ELSE
                abs(p.last_time_ns - t.last_time_ns) <= s(1)
                AND t.client_stream_bytes <= p.client_stream_bytes * 3 // 2 + 8000
                AND t.broker_stream_bytes <= p.broker_stream_bytes * 3 // 2 + 15000
        END
),
plain AS (
    SELECT client_address, count(*) AS connections
    FROM all_connections
    WHERE is_kafka AND NOT tls AND forwarded_from IS NULL AND requests > 0
    GROUP BY client_address
),
-- Nearly all that it asks has such a connection before it, three at least: fewer may be chance.
ended_tls AS (
    SELECT b.*
    FROM beside AS b JOIN plain AS k ON k.client_address = b.proxy_address
    WHERE b.place = 1 AND b.from_place = 1
    QUALIFY count(*) OVER (PARTITION BY b.proxy_address) >= greatest(3, k.connections * 3 // 4)
),
named AS (
    SELECT host, port FROM all_brokers GROUP BY host, port
),
found AS (
    SELECT
        sort,
        broker_address AS address,
        broker_port AS port,
        translated_broker AS behind,
        CASE WHEN translated_broker IS NULL THEN min(translated_client) END AS behind_client,
        CAST(NULL AS INTEGER) AS proxies,
        count(*) AS connections,
        CASE WHEN sort = 'unanswered' THEN CAST(sum(requests) AS BIGINT) END AS requests,
        CAST(NULL AS BIGINT) AS proxy_ns,
        CAST(NULL AS BIGINT) AS around,
        false AS is_named
    FROM (
        SELECT
            *,
            CASE WHEN translated_broker IS NOT NULL AND sum(requests) OVER pair > 0 AND sum(replies) OVER pair = 0 AND count(one_way) OVER pair = 0
                THEN 'unanswered'
            -- Of two halves and a whole the time between is not known. A half may have the broker's own address.
                WHEN view_delay_ns IS NULL AND translated_client IS NOT NULL AND views > 2
                AND (translated_broker LIKE '%, %' OR translated_broker LIKE '127.%' OR translated_broker LIKE '[::1]:%')
                THEN 'redirect' ELSE 'translation' END AS sort
        FROM all_connections
        WHERE translated_broker IS NOT NULL OR translated_client IS NOT NULL
        WINDOW pair AS (PARTITION BY broker_address, broker_port, translated_broker)
    ) AS c
    GROUP BY sort, broker_address, broker_port, translated_broker
    UNION ALL
    SELECT
        'proxy',
        p.proxy_address,
        p.proxy_port,
        concat(
            CASE WHEN p.broker_address LIKE '%:%' THEN concat('[', p.broker_address, ']') ELSE p.broker_address END,
            ':', p.broker_port
        ),
        NULL,
        p.proxies,
        p.connections,
        p.requests,
        p.proxy_ns,
        coalesce(a.requests, 0),
        n.port IS NOT NULL
    FROM carried AS p
    LEFT JOIN around AS a
        ON a.proxy_address = p.proxy_address AND a.proxy_port = p.proxy_port
        AND a.broker_address = p.broker_address AND a.broker_port = p.broker_port
    LEFT JOIN named AS n ON n.host = p.broker_address AND n.port = p.broker_port
    UNION ALL
    SELECT
        'tls',
        proxy_address,
        proxy_port,
        concat(CASE WHEN broker_address LIKE '%:%' THEN concat('[', broker_address, ']') ELSE broker_address END, ':', broker_port),
        NULL,
        1,
        count(*),
        CAST(sum(requests) AS BIGINT),
        NULL,
        0,
        false
    FROM ended_tls
    GROUP BY proxy_address, proxy_port, broker_address, broker_port
)
SELECT *, count(*) OVER () AS total_rows
FROM found
ORDER BY sort, connections DESC, address, port, proxies, behind
LIMIT 20
