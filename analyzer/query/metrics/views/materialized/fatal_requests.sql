-- After which requests does a broker always end the connection? One row per client host, broker and API: three requests or more, on
-- as many connections, which the broker ended without a reply, and none that was ever answered there. What opens a
-- connection (ApiVersions) or logs in has causes of its own. `answers_others`: other requests of this host were answered afterwards;
-- where none is, the port may want a login, or the broker behind a proxy may be gone.
WITH ended AS (
    SELECT x.client_address, x.broker_address, x.broker_port, x.api_key, min(x.request_time_ns) AS first_time_ns
    FROM all_exchanges AS x JOIN all_connections AS c ON c.connection = x.connection
    WHERE x.status = 'closed' AND c.closed_by = 'broker' AND is_client(x.role)
        AND x.api_key NOT IN (api('ApiVersions', 'SaslHandshake', 'SaslAuthenticate'))
    GROUP BY x.client_address, x.broker_address, x.broker_port, x.api_key
    HAVING count(DISTINCT x.connection) >= 3
),
answered AS (
    SELECT
        e.client_address,
        e.broker_address,
        e.broker_port,
        e.api_key,
        bool_or(x.api_key = e.api_key) AS is_same,
        bool_or(x.api_key NOT IN (api('ApiVersions', 'SaslHandshake', 'SaslAuthenticate')) AND x.response_time_ns > e.first_time_ns)
            AS is_other
    FROM ended AS e JOIN all_exchanges AS x
        ON x.client_address = e.client_address AND x.broker_address = e.broker_address AND x.broker_port = e.broker_port
    WHERE x.status IN ('answered', 'reply_lost')
    GROUP BY e.client_address, e.broker_address, e.broker_port, e.api_key
)
SELECT e.client_address, e.broker_address, e.broker_port, e.api_key, coalesce(a.is_other, false) AS answers_others
FROM ended AS e LEFT JOIN answered AS a
    ON a.client_address = e.client_address AND a.broker_address = e.broker_address AND a.broker_port = e.broker_port
    AND a.api_key = e.api_key
WHERE a.is_same IS NOT TRUE
