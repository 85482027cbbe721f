-- Who asked a broker for metadata, and for nothing that moves records? One row per client and broker; `seeks`: also for a coordinator.
SELECT
    client_address,
    who() AS who,
    broker_address || ':' || CAST(broker_port AS STRING) AS bootstrap,
    bool_or(api_key = api('FindCoordinator')) AS seeks
FROM exchanges
GROUP BY client_address, who(), broker_address, broker_port
HAVING bool_or(api_key NOT IN (api('Metadata', 'FindCoordinator', 'SaslHandshake', 'ApiVersions', 'InitProducerId',
    'SaslAuthenticate', 'DescribeCluster'))) IS NOT TRUE
