-- Ways on which large packets do not get through, one row a client and broker.
-- From a moment on no request above some size is answered, on connections with three packets at least that the client sent again,
-- and every smaller one is, before and after on the same host, ten at least and on a new connection too: the way is there. That large
-- requests were answered before does not speak against it: a route changed.
WITH waiting AS (
    SELECT
        x.client_address,
        x.broker_address,
        x.broker_port,
        min(x.client_id) AS client_id,
        min(x.request_time_ns) AS from_ns,
        max(x.request_time_ns) AS to_ns,
        min(x.request_bytes) AS smallest_bytes,
        count(*) AS requests,
        count(DISTINCT x.connection) AS connections,
        min(x.exchange) AS exchange
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.status IN ('pending', 'closed', 'abandoned') AND x.request_bytes > 500 AND is_client(x.role)
        AND c.client_retransmitted >= 3 AND c.one_way IS NULL AND c.last_time_ns - x.request_time_ns >= s(2)
    GROUP BY x.client_address, x.broker_address, x.broker_port
    HAVING count(DISTINCT x.connection) >= 2
)
SELECT
    w.client_address,
    who(w) AS who,
    w.broker_address || ':' || CAST(w.broker_port AS STRING) AS broker,
    w.requests,
    CASE WHEN w.requests = 1 THEN 'was' ELSE 'were' END AS was_or_were,
    w.smallest_bytes,
    max(x.request_bytes) AS answered_bytes,
    w.requests AS weight,
    w.exchange AS evidence_first,
    w.from_ns AS first_time_ns,
    w.to_ns AS last_time_ns
FROM waiting AS w
JOIN exchanges AS x
    ON x.client_address = w.client_address AND x.broker_address = w.broker_address AND x.broker_port = w.broker_port
WHERE x.status = 'answered' AND x.request_time_ns > w.from_ns
GROUP BY w.client_address, w.client_id, w.broker_address, w.broker_port, w.requests, w.smallest_bytes, w.exchange, w.from_ns, w.to_ns
HAVING max(x.request_bytes) < w.smallest_bytes AND max(x.request_time_ns) > w.from_ns + s(2) AND count(*) >= 2
