-- What is in a capture, by what it looks like and by port? Never filtered; bytes are payload of both directions. Attempts that came
-- to nothing are not in it: `attempts` has them, of a scan one for each port.
SELECT
    coalesce(protocol, 'no payload') AS protocol,
    broker_port AS port,
    count(*) AS connections,
    CAST(sum(client_bytes + broker_bytes) AS BIGINT) AS bytes,
    count(*) OVER () AS total_rows
FROM connections_seen
WHERE failed IS NULL
GROUP BY coalesce(protocol, 'no payload'), broker_port
ORDER BY bytes DESC, connections DESC, port
LIMIT 20
