-- What is in a capture, by what it looks like and by port? Never filtered; bytes are payload of both directions.
SELECT
    coalesce(protocol, 'no payload') AS protocol,
    broker_port AS port,
    count(*) AS connections,
    CAST(sum(client_bytes + broker_bytes) AS BIGINT) AS bytes,
    count(*) OVER () AS total_rows
FROM all_connections
GROUP BY coalesce(protocol, 'no payload'), broker_port
ORDER BY bytes DESC, connections DESC, port
LIMIT 20
