-- What stands between clients and brokers, with both of its sides in the capture? Never filtered. One row per translation of addresses
-- (`sort` translation: connections that were captured on both sides count once, under the address that the client uses) or proxy
-- (proxy: requests that it carried on count once, as they came to it), with what clients reach and what is behind it
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
named AS (
    SELECT host, port FROM all_brokers GROUP BY host, port
),
found AS (
    SELECT
        'translation' AS sort,
        broker_address AS address,
        broker_port AS port,
        translated_broker AS behind,
        CASE WHEN translated_broker IS NULL THEN min(translated_client) END AS behind_client,
        CAST(NULL AS INTEGER) AS proxies,
        count(*) AS connections,
        CAST(NULL AS BIGINT) AS requests,
        CAST(NULL AS BIGINT) AS proxy_ns,
        CAST(NULL AS BIGINT) AS around,
        false AS is_named
    FROM all_connections
    WHERE translated_broker IS NOT NULL OR translated_client IS NOT NULL
    GROUP BY broker_address, broker_port, translated_broker
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
)
SELECT *, count(*) OVER () AS total_rows
FROM found
ORDER BY sort, connections DESC, address, port, proxies, behind
LIMIT 20
