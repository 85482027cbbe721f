-- Which clients found a group's coordinator three times, and asked for nothing that a consumer needs for 10 s from then on? One row per
-- client. A consumer that has not subscribed asks once. Beside brokers without ConsumerGroupHeartbeat v1 it is one that wants this
-- protocol (KIP-848): librdkafka does not ask for what is not offered, and says nothing of it.
WITH seekers AS (
    SELECT a.client_address, a.client_id
    FROM asked_versions AS a JOIN connections AS c ON c.connection = a.connection
    WHERE is_client(c.role) AND a.has_request
    GROUP BY a.client_address, a.client_id
    HAVING bool_or(a.api_key = api('FindCoordinator'))
        AND bool_and(a.api_key IN (api('ApiVersions', 'Metadata', 'FindCoordinator', 'GetTelemetrySubscriptions', 'PushTelemetry')))
)
SELECT
    who(x) AS who,
    x.client_address,
    count(*) AS requests,
    count(*) AS weight,
    min(x.connection) AS connection,
    min_by(x.exchange, (x.request_time_ns, x.exchange)) AS evidence_first,
    max_by(x.exchange, (x.request_time_ns, x.exchange)) AS evidence_last,
    min(x.request_time_ns) AS first_time_ns,
    max(CASE WHEN c.close = 'none' THEN r.last_time_ns ELSE c.last_time_ns END) AS last_time_ns
FROM exchanges AS x
JOIN seekers AS s ON s.client_address = x.client_address AND s.client_id IS NOT DISTINCT FROM x.client_id
JOIN connections AS c ON c.connection = x.connection
CROSS JOIN time_range AS r
WHERE x.api_key = api('FindCoordinator')
    -- What brokers offer to clients: controllers offer it to nobody.
    AND (
        SELECT count(*) > 0 AND NOT bool_or(o.api_key = api('ConsumerGroupHeartbeat') AND o.max_version >= 1)
        FROM offered_versions AS o JOIN connections AS k ON k.connection = o.connection
        WHERE is_client(k.role)
    )
GROUP BY who(x), x.client_address
HAVING count(*) FILTER (WHERE x.status = 'answered' AND x.error_code = error('NONE')) >= 3
    -- librdkafka asks again every ten minutes, whatever its protocol.
    AND max(x.request_time_ns) FILTER (WHERE x.error_code = error('NONE'))
        - min(x.request_time_ns) FILTER (WHERE x.error_code = error('NONE')) <= s(60)
    AND max(CASE WHEN c.close = 'none' THEN r.last_time_ns ELSE c.last_time_ns END)
        - max(x.request_time_ns) FILTER (WHERE x.error_code = error('NONE')) >= s(10)
