-- severity: medium
-- rank: 40
-- when: connections having count(*) FILTER (WHERE (is_kafka OR tls_handshake = 'finished') AND seen_from = 'syn' AND is_client(role) AND forwarded_from IS NULL) >= 24 AND max(first_time_ns) - min(first_time_ns) >= s(6)
-- says: {who} at {client_address} keeps opening connections: {connections|connection|connections}, up to {worst_per_s} over {over_ns}[, half of them closed within {median_life_ns}][; the end of {left_open} of them was not captured]
-- do: The application creates a client for each message, or its connections fail: create one client, reuse it, and close what is not needed.
-- look: kanalyze {shown_by} --client {client_address}
-- costs: connections, connecting
-- One a second for 30 s, or 30 in all with a median life under 5 s; both in at least 20 different seconds, since a tool that
-- runs once opens many at one moment. A shorter capture may be full of it: three in each of eight seconds and more, over four
-- fifths of its time. For information from 24 on that live less than 5 s each, in eight seconds and for ten. Of TLS without keys the handshakes tell it, of each port alone: clients have no names there.
WITH opened AS (
    SELECT
        c.client_address,
        coalesce(n.client_id, CASE WHEN c.is_kafka THEN 'a client without client id' ELSE 'a client in TLS' END) AS who,
        CASE WHEN c.is_kafka THEN NULL ELSE c.broker_port END AS tls_port,
        c.connection,
        n.exchange,
        c.first_time_ns,
        c.last_time_ns - c.first_time_ns AS life_ns,
        c.close,
        count(*) OVER (
            PARTITION BY c.client_address, n.client_id, CASE WHEN c.is_kafka THEN NULL ELSE c.broker_port END ORDER BY c.first_time_ns
            RANGE BETWEEN s(30) PRECEDING AND CURRENT ROW
        ) AS within,
        least(s(30), greatest(r.last_time_ns - r.first_time_ns, s(1))) AS over_ns
    FROM connections AS c
    CROSS JOIN time_range AS r
    LEFT JOIN connection_requests AS n ON n.connection = c.connection
    LEFT JOIN tls_unread AS t ON t.connection = c.connection
    WHERE (c.is_kafka OR c.tls_handshake = 'finished' AND c.broker_port <> 443 AND t.connection IS NOT NULL)
        AND c.seen_from = 'syn' AND is_client(c.role) AND c.forwarded_from IS NULL
)
SELECT
    client_address,
    who,
    CASE WHEN tls_port IS NULL THEN 'clients' ELSE 'connections' END AS shown_by,
    count(*) AS connections,
    max(within) * 1e9 / max(over_ns) AS worst_per_s,
    max(over_ns) AS over_ns,
    CASE WHEN count(*) FILTER (WHERE close = 'none') * 4 < count(*)
        THEN CAST(round(percentile_cont(0.5) WITHIN GROUP (ORDER BY life_ns)) AS BIGINT) END AS median_life_ns,
    CASE WHEN count(*) FILTER (WHERE close = 'none') * 4 >= count(*) THEN count(*) FILTER (WHERE close = 'none') END AS left_open,
    max_by(connection, (within, connection)) AS connection,
    count(*) AS weight,
    max_by(exchange, (within, connection)) FILTER (WHERE exchange IS NOT NULL) AS evidence_any,
    -- One a second, or 30 that soon end; or nearly all of a short capture.
    CASE WHEN (
        count(DISTINCT CAST(floor(first_time_ns / 1e9) AS BIGINT)) >= 20
        AND (max(within) >= 30 OR (count(*) >= 30 AND percentile_cont(0.5) WITHIN GROUP (ORDER BY life_ns) < s(5)))
    ) OR (
        count(DISTINCT CAST(floor(first_time_ns / 1e9) AS BIGINT)) >= 8
        AND count(*) >= 3 * count(DISTINCT CAST(floor(first_time_ns / 1e9) AS BIGINT))
        AND percentile_cont(0.5) WITHIN GROUP (ORDER BY life_ns) < s(5)
        AND max(first_time_ns) - min(first_time_ns) >= (SELECT (last_time_ns - first_time_ns) / 5 * 4 FROM time_range)
    ) THEN 'medium' ELSE 'info' END AS severity,
    min(first_time_ns) AS first_time_ns,
    max(first_time_ns) AS last_time_ns
FROM opened
GROUP BY client_address, who, tls_port
HAVING count(DISTINCT CAST(floor(first_time_ns / 1e9) AS BIGINT)) >= 8 AND count(*) >= 24
    AND (
        percentile_cont(0.5) WITHIN GROUP (ORDER BY life_ns) < s(5)
        OR (max(within) >= 30 AND count(DISTINCT CAST(floor(first_time_ns / 1e9) AS BIGINT)) >= 20)
    )
    AND (severity = 'medium' OR max(first_time_ns) - min(first_time_ns) >= impact('stuck_ns'))
