-- After which requests does a broker always end the connection? One row per client host, broker and API: three requests or more, on
-- as many connections, each closed without a reply, and none that was ever answered there. What opens a
-- connection (ApiVersions) or logs in has causes of its own. `answers_others`: other requests of this host were answered afterwards;
-- where none is, the port may want a login, or the broker behind a proxy may be gone.
WITH asked AS (
    SELECT
        client_address,
        broker_address,
        broker_port,
        api_key,
        count(DISTINCT connection) FILTER (WHERE status = 'closed') AS connections,
        min(request_time_ns) AS first_time_ns
    FROM all_exchanges
    WHERE is_client(role) AND api_key NOT IN (api('ApiVersions', 'SaslHandshake', 'SaslAuthenticate')) AND status <> 'orphan_reply'
    GROUP BY client_address, broker_address, broker_port, api_key
    HAVING count(*) FILTER (WHERE status = 'closed') >= 3 AND count(*) FILTER (WHERE status IN ('answered', 'reply_lost')) = 0
)
SELECT
    a.client_address,
    a.broker_address,
    a.broker_port,
    a.api_key,
    EXISTS (
        SELECT 1 FROM all_exchanges AS x
        WHERE x.broker_address = a.broker_address AND x.broker_port = a.broker_port AND x.client_address = a.client_address
            AND x.status = 'answered' AND x.api_key NOT IN (api('ApiVersions', 'SaslHandshake', 'SaslAuthenticate'))
            AND x.response_time_ns > a.first_time_ns
    ) AS answers_others
FROM asked AS a
WHERE a.connections >= 3
