-- Clients that come to a controller as if it were a broker: one row a client and endpoint. What listens there offers BrokerRegistration
-- and no Metadata, and the client closes after ApiVersions, three times or more, every
-- five seconds or more often: whoever checks now and then whether it is there has asked nothing in vain.
WITH controllers AS (
    SELECT connection
    FROM offered_versions
    GROUP BY connection
    HAVING bool_or(api_key = api('BrokerRegistration')) AND NOT bool_or(api_key = api('Metadata'))
)
SELECT
    coalesce(min(x.client_id), c.client_address) AS who,
    c.client_address,
    c.broker_address || ':' || CAST(c.broker_port AS STRING) AS broker,
    count(DISTINCT c.connection) AS times,
    count(DISTINCT c.connection) AS weight,
    min_by(c.connection, (c.first_time_ns, c.connection)) AS connection,
    min_by(x.exchange, (x.request_time_ns, x.exchange)) AS evidence_first,
    min(c.first_time_ns) AS first_time_ns,
    max(c.last_time_ns) AS last_time_ns
FROM controllers AS o
JOIN connections AS c ON c.connection = o.connection
JOIN connection_requests AS r ON r.connection = c.connection
JOIN exchanges AS x ON x.connection = c.connection
WHERE r.requests = r.hello_requests AND c.close <> 'none' AND c.closed_by = 'client' AND is_client(c.role)
GROUP BY c.client_address, c.broker_address, c.broker_port
HAVING count(DISTINCT c.connection) >= 3 AND max(c.last_time_ns) - min(c.first_time_ns) <= count(DISTINCT c.connection) * s(5)
