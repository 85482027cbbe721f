-- Clients that give up requests after the same time each time, and come back: one row a client, API and broker. `waited_ns`: how long
-- they waited; `late`: so many replies came after that; `may_last_ns`: how long the request itself allows the broker to take (Fetch:
-- max_wait_ms, JoinGroup: the rebalance timeout), where that is longer.
-- Three of them at least, all within a tenth of the longest, so that a setting and nobody's shutdown ends them, and each but the last
-- followed by a new connection of the client within 10 s, while it took no other reply of this API after as long. A Fetch that is cut
-- off while the broker may still hold it counts from 2 s on. What TCP had to send again is no patience. Nor is it when another connection
-- of the client, on which nothing waited, ends within 100 ms: then its process has ended. `upstream`: to where the broker's host
-- connected meanwhile, `in_vain`, three times at least.
-- `gives_up`: whether it is the client that closes. Where the other end does (5 s or later, one connection after the other, so that it
-- is no broker that stops), a proxy in between has the timeout.
WITH given_up AS (
    SELECT
        x.exchange,
        x.connection,
        x.client_address,
        x.client_id,
        who(x) AS who,
        x.api_name,
        x.api_key,
        x.group_id,
        x.broker_address,
        x.broker_port,
        x.max_wait_ms,
        x.request_time_ns,
        c.close_time_ns,
        c.close_time_ns - x.request_end_ns AS waited_ns,
        c.closed_by = 'client' AS by_client,
        CASE WHEN x.status = 'answered' THEN x.response_time_ns - c.close_time_ns END AS late_ns,
        row_number() OVER (PARTITION BY x.connection ORDER BY x.request_end_ns, x.exchange) AS place
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE is_client(x.role) AND c.client_retransmitted = 0
        AND (c.closed_by = 'client' OR c.closed_by = 'broker' AND x.status = 'closed' AND c.close_time_ns - x.request_end_ns >= s(5))
        AND (x.status IN ('closed', 'abandoned') OR x.status = 'answered' AND x.latency_ns >= ms(500))
        AND x.request_end_ns < c.close_time_ns - ms(500)
        AND (x.response_time_ns IS NULL OR x.response_time_ns > c.close_time_ns)
        AND (x.api_key <> api('Fetch') OR CAST(x.max_wait_ms AS BIGINT) * ms(1) + s(1) < c.close_time_ns - x.request_end_ns
            OR c.close_time_ns - x.request_end_ns >= s(2))
),
ended AS (
    SELECT g.exchange
    FROM given_up AS g
    JOIN connections AS c
        ON c.client_address = g.client_address AND c.connection <> g.connection AND c.closed_by = 'client'
        AND c.first_time_ns < g.request_time_ns AND c.close_time_ns BETWEEN g.close_time_ns - ms(100) AND g.close_time_ns + ms(100)
    JOIN connection_requests AS r ON r.connection = c.connection AND r.client_id IS NOT DISTINCT FROM g.client_id
    WHERE NOT EXISTS (SELECT 1 FROM given_up AS o WHERE o.connection = c.connection)
    GROUP BY g.exchange
),
returned AS (
    SELECT
        g.*,
        lead(g.request_time_ns) OVER (
            PARTITION BY client_address, client_id, api_key, broker_address, broker_port, by_client ORDER BY request_time_ns, exchange
        ) AS next_ns
    FROM given_up AS g
    WHERE place = 1 AND NOT EXISTS (SELECT 1 FROM ended AS e WHERE e.exchange = g.exchange)
),
-- Who waits longer for another reply of this API has ended for another reason.
patient AS (
    SELECT x.client_address, x.client_id, x.api_key, max(x.latency_ns) AS latency_ns
    FROM exchanges AS x
    JOIN connections AS c ON c.connection = x.connection
    JOIN (SELECT client_address, client_id, api_key FROM given_up GROUP BY client_address, client_id, api_key) AS g
        ON g.client_address = x.client_address AND g.client_id IS NOT DISTINCT FROM x.client_id AND g.api_key = x.api_key
    WHERE x.status = 'answered' AND NOT coalesce(c.closed_by = 'client' AND x.response_time_ns > c.close_time_ns, false)
    GROUP BY x.client_address, x.client_id, x.api_key
),
allowed AS (
    SELECT group_id, max(CAST(rebalance_timeout_ms AS BIGINT)) * ms(1) AS rebalance_ns
    FROM group_news
    WHERE rebalance_timeout_ms > 0
    GROUP BY group_id
),
told AS (
    SELECT
        who,
        r.client_address,
        api_name,
        r.api_key,
        broker_address AS host,
        by_client,
        broker_address || ':' || CAST(broker_port AS STRING) AS broker,
        CASE WHEN min(r.group_id) = max(r.group_id) THEN max(r.group_id) END AS group_id,
        count(*) AS times,
        max(waited_ns) AS waited_ns,
        count(late_ns) AS late,
        max(late_ns) AS late_ns,
        max(CASE WHEN r.api_key = api('Fetch') THEN CAST(max_wait_ms AS BIGINT) * ms(1)
            WHEN r.api_key = api('JoinGroup') THEN a.rebalance_ns END)
            AS may_last_ns,
        max(connection) AS connection,
        min_by(exchange, (request_time_ns, exchange)) AS evidence_first,
        max_by(exchange, (request_time_ns, exchange)) AS evidence_last,
        min(request_time_ns) AS first_time_ns,
        max(close_time_ns) AS last_time_ns
    FROM returned AS r
    LEFT JOIN allowed AS a ON a.group_id = r.group_id
    LEFT JOIN patient AS p
        ON p.client_address = r.client_address AND p.client_id IS NOT DISTINCT FROM r.client_id AND p.api_key = r.api_key
    GROUP BY who, r.client_address, r.client_id, api_name, r.api_key, broker_address, broker_port, by_client
    HAVING count(*) >= 3 AND coalesce(max(p.latency_ns) < min(waited_ns), true) AND min(waited_ns) >= max(waited_ns) * 0.9
        AND count(*) FILTER (WHERE next_ns - close_time_ns <= s(10) AND (by_client OR next_ns >= close_time_ns)) >= count(*) - 1
),
-- What the host that was asked asked for itself, in vain: it is a proxy then. Where the client is on that host, too, it may have asked.
behind AS (
    SELECT
        t.client_address, t.who, t.api_key, t.broker,
        min(c.broker_address || ':' || CAST(c.broker_port AS STRING)) AS upstream,
        count(*) AS in_vain
    FROM told AS t
    JOIN all_connections AS c ON c.client_address = t.host AND c.first_time_ns BETWEEN t.first_time_ns AND t.last_time_ns
    WHERE t.host <> t.client_address AND c.one_way IS NULL AND never_answered(c)
    GROUP BY t.client_address, t.who, t.api_key, t.broker
    HAVING count(*) >= 3 AND count(DISTINCT c.broker_address || ':' || CAST(c.broker_port AS STRING)) = 1
)
SELECT
    t.* EXCLUDE (api_key, may_last_ns, host, by_client),
    CASE WHEN by_client THEN 'gives up' ELSE 'is cut off in' END AS ends,
    b.upstream,
    b.in_vain,
    CASE WHEN may_last_ns > waited_ns THEN may_last_ns END AS may_last_ns,
    CASE WHEN late > 0 THEN late END AS came_late,
    CASE WHEN late = 0 AND coalesce(may_last_ns <= waited_ns, true) THEN 'no reply' END AS none,
    CASE
        WHEN NOT by_client
            THEN 'The other end closes connections on which nothing is sent for that long: a load balancer, proxy or sidecar in between (its timeout for idle connections), or the broker (connections.max.idle.ms). Raise that above what the request may take.'
        WHEN may_last_ns > waited_ns AND t.api_key = api('Fetch')
            THEN 'The client waits for less time than it lets the broker wait for data: set fetch.max.wait.ms well below its request timeout (request.timeout.ms, socket.timeout.ms), or raise that.'
        WHEN may_last_ns > waited_ns
            THEN 'JoinGroup is answered when all members have joined, after the rebalance timeout (max.poll.interval.ms) at the latest: let this client wait longer than that (request.timeout.ms). Each attempt leaves a member behind, for which the next one waits.'
        WHEN late = 0 AND upstream IS NOT NULL
            THEN 'Where a proxy listens, its own broker does not answer it: see whether ' || upstream || ' is still its address, and whether that host reaches it. Else look into the log of the broker at that time.'
        WHEN late > 0
            THEN 'Replies take longer than this client waits (request.timeout.ms, socket.timeout.ms): raise it, and find out what takes so long (kanalyze latency). What it sends again may be written twice, unless enable.idempotence is set.'
        ELSE 'The request arrived, and no reply came while the client waited (request.timeout.ms, socket.timeout.ms): look into the log of the broker at that time, and at proxies in between.'
    END AS advice,
    times AS weight
FROM told AS t
LEFT JOIN behind AS b
    ON b.client_address IS NOT DISTINCT FROM t.client_address AND b.who IS NOT DISTINCT FROM t.who AND b.api_key = t.api_key AND b.broker = t.broker
