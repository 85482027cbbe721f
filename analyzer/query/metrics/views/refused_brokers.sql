-- Brokers and controllers that others do not take into their cluster: one row a host, API and error. Three refusals
-- at least, over 10 s: a broker that was killed and is back is refused until the session of its past one has ended (9 s).
WITH told AS (
    SELECT e.exchange, e.code, e.name, x.api_name, x.client_id, x.client_address, x.broker_address, x.broker_port, x.response_time_ns
    FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
    WHERE NOT is_client(x.role)
        AND e.code IN (error('DUPLICATE_BROKER_REGISTRATION', 'INCONSISTENT_CLUSTER_ID', 'INCONSISTENT_VOTER_SET',
            'BROKER_ID_NOT_REGISTERED', 'STALE_BROKER_EPOCH', 'CLUSTER_AUTHORIZATION_FAILED', 'INVALID_REGISTRATION'))
)
SELECT
    client_address,
    who() AS who,
    api_name,
    name,
    broker_address || ':' || CAST(broker_port AS STRING) AS broker,
    count(DISTINCT exchange) AS times,
    CASE
        WHEN code = error('DUPLICATE_BROKER_REGISTRATION')
            THEN 'Another broker is registered under the same node.id and is alive, or was until its session ends (broker.session.timeout.ms): give each broker an id of its own; one that was killed and started anew waits for that time alone.'
        WHEN code = error('INCONSISTENT_CLUSTER_ID')
            THEN 'The directories of this host were formatted for another cluster (cluster.id in meta.properties): correct controller.quorum.voters or controller.quorum.bootstrap.servers, or format them anew with the id of this cluster (kafka-storage.sh format).'
        WHEN code = error('CLUSTER_AUTHORIZATION_FAILED')
            THEN 'The user of this broker may not act as one: name it in super.users of the others, or grant it ClusterAction.'
        ELSE 'The controllers do not know this broker under what it says of itself: see its log and that of the active controller, and compare node.id, cluster.id and the voters of each (kafka-metadata-quorum.sh describe --status).'
    END AS advice,
    CASE WHEN count(DISTINCT exchange) >= 10 THEN 'high' END AS severity,
    count(DISTINCT exchange) AS weight,
    min_by(exchange, (response_time_ns, exchange)) AS evidence_first,
    max_by(exchange, (response_time_ns, exchange)) AS evidence_last,
    min(response_time_ns) AS first_time_ns,
    max(response_time_ns) AS last_time_ns
FROM told
GROUP BY client_address, client_id, api_name, code, name, broker_address, broker_port
HAVING count(DISTINCT exchange) >= 3 AND max(response_time_ns) - min(response_time_ns) >= s(10)
