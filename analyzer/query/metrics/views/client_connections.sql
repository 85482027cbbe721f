-- Who is behind each connection? One row per connection and client id of a client (no broker): `client` numbers the identity
-- (address without port, user, client id, software), the same number in every row of a client. A connection that does not
-- say its software has that of the client's other connections, when they agree. Bare SASL tokens name no client.
WITH asked AS (
    SELECT
        connection,
        client_id,
        CAST(sum(exchanges) AS BIGINT) AS requests,
        CAST(sum(metadata_requests) AS BIGINT) AS metadata_requests
    FROM totals
    WHERE status <> 'orphan_reply' AND is_client AND NOT is_token
    GROUP BY connection, client_id
),
told AS (
    SELECT
        t.connection,
        t.client_id,
        t.requests,
        t.metadata_requests,
        c.client_address,
        c.principal,
        c.software_name,
        c.software_version,
        min(c.software_name) OVER (PARTITION BY c.client_address, t.client_id, c.principal) AS least_name,
        max(c.software_name) OVER (PARTITION BY c.client_address, t.client_id, c.principal) AS greatest_name,
        min(c.software_version) OVER (PARTITION BY c.client_address, t.client_id, c.principal) AS least_version,
        max(c.software_version) OVER (PARTITION BY c.client_address, t.client_id, c.principal) AS greatest_version,
        c.claimed_user,
        c.sasl_mechanism,
        c.security,
        c.client_host,
        c.client_pod,
        c.client_namespace,
        c.client_workload,
        c.client_zone,
        c.seen_from,
        c.close,
        c.broker_packets,
        c.first_time_ns,
        c.last_time_ns
    FROM asked AS t JOIN connections AS c ON c.connection = t.connection
),
named AS (
    SELECT
        connection, client_id, requests, metadata_requests, client_address, principal, claimed_user, sasl_mechanism,
        security, client_host, client_pod, client_namespace, client_workload, client_zone, seen_from, close, broker_packets, first_time_ns, last_time_ns,
        CASE WHEN software_name IS NULL AND least_name = greatest_name AND least_version = greatest_version
            THEN least_name ELSE software_name END AS software_name,
        CASE WHEN software_name IS NULL AND least_name = greatest_name AND least_version = greatest_version
            THEN least_version ELSE software_version END AS software_version
    FROM told
)
SELECT
    *,
    dense_rank() OVER (ORDER BY client_address, client_id, principal, software_name, software_version) AS client
FROM named
