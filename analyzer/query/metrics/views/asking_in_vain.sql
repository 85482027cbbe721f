-- Which clients ask for metadata again and again, and for nothing that follows from it? One row a client: five times at least, in five
-- seconds at least, every three seconds or more often. Whoever writes, reads or administers asks for more than that. A member of a group
-- that reads nothing may be one to spare: of members all these requests are on one connection, as at a start they are on several. For
-- information, unless a connection asks 30 times in 30 s, not in a burst, and no reply to it was read: where that is a storm, this is why.
-- Or unless why is known: `fetch_to`, up to which version the broker offers Fetch to a Java client of Kafka 4 (`library`), which has none
-- below 4 (KIP-896).
WITH few AS (
    SELECT client_address, client_id, sum(metadata_requests) AS requests
    FROM totals
    WHERE is_client
    GROUP BY client_address, client_id
    HAVING sum(metadata_requests) >= 5
),
lines AS (
    SELECT connection, sum(metadata_requests) AS metadata_requests
    FROM totals
    WHERE is_client
    GROUP BY connection
),
unread AS (
    SELECT connection
    FROM (
        SELECT
            x.connection,
            x.response_decoded = 'full' AS is_read,
            x.request_time_ns // s(1) AS second,
            count(*) OVER (PARTITION BY x.connection ORDER BY x.request_time_ns RANGE BETWEEN s(30) PRECEDING AND CURRENT ROW) AS within
        FROM (SELECT connection FROM totals WHERE is_client GROUP BY connection HAVING sum(metadata_requests) >= 30) AS t
        JOIN exchanges AS x ON x.connection = t.connection
        WHERE x.api_key = api('Metadata') AND x.request_time_ns IS NOT NULL
    ) AS asked
    GROUP BY connection
    HAVING max(within) >= 30 AND count(DISTINCT second) >= 10 AND bool_or(is_read) IS NOT TRUE
),
offers AS (
    SELECT f.connection, max('Java ' || c.software_version) AS library, max(f.max_version) AS fetch_to
    FROM offered_versions AS f JOIN connections AS c ON c.connection = f.connection
    WHERE f.api_key = api('Fetch') AND f.max_version < 4 AND c.software_name = 'apache-kafka-java' AND c.software_version LIKE '4.%'
    GROUP BY f.connection
)
SELECT
    who(f) AS who,
    f.client_address,
    CAST(f.requests AS BIGINT) AS requests,
    max(a.last_time_ns) - min(a.first_time_ns) AS lasted_ns,
    max(o.library) AS library,
    max(o.fetch_to) AS fetch_to,
    CASE WHEN count(o.connection) > 0
        THEN 'These brokers are too old for this client: those of Kafka 4 work with brokers from 2.1 on (KIP-896). Upgrade the brokers, or let the client have a library of 3.x.'
        ELSE 'Read the log of this client: a topic that does not exist, a right that it lacks, or an address that it cannot resolve. If the capture is cut, one with -s 0 shows the replies.'
    END AS advice,
    CASE WHEN count(o.connection) > 0 OR bool_or(a.connection IN (SELECT connection FROM unread)) THEN 'medium' ELSE 'info' END AS severity,
    CAST(f.requests AS BIGINT) AS weight,
    min(a.connection) AS connection,
    min(a.first_time_ns) AS first_time_ns,
    max(a.last_time_ns) AS last_time_ns
FROM few AS f
JOIN asked_versions AS a ON a.client_address = f.client_address AND a.client_id IS NOT DISTINCT FROM f.client_id
LEFT JOIN lines AS n ON n.connection = a.connection
LEFT JOIN offers AS o ON o.connection = a.connection
GROUP BY f.client_address, f.client_id, f.requests
HAVING bool_and(coalesce(a.api_key IN (api('ApiVersions', 'SaslHandshake', 'SaslAuthenticate', 'Metadata', 'FindCoordinator', 'InitProducerId',
        'GetTelemetrySubscriptions', 'PushTelemetry', 'JoinGroup', 'SyncGroup', 'Heartbeat', 'LeaveGroup', 'ConsumerGroupHeartbeat')), false))
    AND (bool_or(n.metadata_requests >= 5 AND a.api_key = api('Metadata') AND a.last_time_ns - a.first_time_ns >= s(5)
            AND a.last_time_ns - a.first_time_ns <= n.metadata_requests * s(3))
        OR (NOT bool_or(a.api_key IN (api('JoinGroup', 'SyncGroup', 'Heartbeat', 'LeaveGroup', 'ConsumerGroupHeartbeat')))
            AND max(a.last_time_ns) - min(a.first_time_ns) >= s(5)
            AND max(a.last_time_ns) - min(a.first_time_ns) <= f.requests * s(3)))
