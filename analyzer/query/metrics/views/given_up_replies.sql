-- Which clients close a connection in the middle of a reply, the same one each time? One row per client, API and
-- partition: `times` after at most `taken_bytes` of the `reply_bytes` that its length announces.
-- The client closes within five seconds of its request, with less than a quarter of the reply taken, and no byte missing in the
-- capture: its limit for the size of a reply is lower than what the broker sends. Three times, and not because its process ended: connections that
-- it opened for this had no other reply with records, and a Fetch asks for the same offset each time.
WITH broken AS (
    SELECT
        p.connection,
        c.client_address,
        c.broker_address,
        c.broker_port,
        c.close_time_ns,
        max(p.bytes_lost) AS reply_bytes,
        max(c.broker_skipped_unfinished_bytes) AS taken_bytes
    FROM problems AS p JOIN connections AS c ON c.connection = p.connection
    WHERE p.kind = 'unfinished_frame' AND p.side = 'broker' AND c.closed_by = 'client' AND c.is_kafka AND c.broker_gaps = 0
        AND is_client(c.role) AND c.forwarded_from IS NULL
        AND c.broker_skipped_unfinished_bytes < p.bytes_lost / 4
    GROUP BY p.connection, c.client_address, c.broker_address, c.broker_port, c.close_time_ns
),
-- Replies come in the order of the requests: the first one without is the one.
waiting AS (
    SELECT
        b.*,
        x.exchange,
        x.client_id,
        x.api_key,
        x.api_name,
        x.request_time_ns,
        row_number() OVER (PARTITION BY b.connection ORDER BY x.request_time_ns, x.exchange) AS place
    FROM broken AS b JOIN exchanges AS x ON x.connection = b.connection
    WHERE x.status IN ('closed', 'abandoned')
),
served AS (
    SELECT b.connection, count(*) AS replies
    FROM broken AS b JOIN fetch_positions AS p ON p.connection = b.connection
    WHERE p.record_bytes > 0
    GROUP BY b.connection
),
named AS (
    SELECT
        w.connection,
        min(coalesce(e.topic, e.topic_id)) AS topic,
        min(e.partition) AS partition,
        min(e.fetch_offset) AS asked_offset,
        count(*) AS partitions
    FROM waiting AS w JOIN fetch_positions AS e ON e.exchange = w.exchange
    WHERE w.place = 1
    GROUP BY w.connection
)
SELECT
    who(w) AS who,
    w.client_address,
    w.broker_address || ':' || CAST(w.broker_port AS STRING) AS broker,
    w.api_name,
    CASE WHEN n.partitions = 1 THEN n.topic END AS topic,
    CASE WHEN n.partitions = 1 THEN n.partition END AS partition,
    CASE WHEN n.partitions = 1 THEN n.asked_offset END AS asked_offset,
    max(w.reply_bytes) AS reply_bytes,
    max(w.taken_bytes) AS taken_bytes,
    count(*) AS times,
    count(*) AS weight,
    CASE WHEN max(w.request_time_ns) - min(w.request_time_ns) >= s(10) OR count(*) >= 10 THEN 'high' ELSE 'medium' END AS severity,
    min_by(w.exchange, (w.request_time_ns, w.exchange)) AS evidence_first,
    max_by(w.exchange, (w.request_time_ns, w.exchange)) AS evidence_last,
    min(w.request_time_ns) AS first_time_ns,
    max(w.close_time_ns) AS last_time_ns
FROM waiting AS w
LEFT JOIN served AS s ON s.connection = w.connection
LEFT JOIN named AS n ON n.connection = w.connection
WHERE w.place = 1 AND w.close_time_ns - w.request_time_ns < s(5) AND (w.api_key <> api('Fetch') OR n.asked_offset IS NOT NULL)
GROUP BY
    w.client_id, w.client_address, w.broker_address, w.broker_port, w.api_name, n.partitions,
    CASE WHEN n.partitions = 1 THEN n.topic END, CASE WHEN n.partitions = 1 THEN n.partition END,
    CASE WHEN n.partitions = 1 THEN n.asked_offset END
HAVING count(*) FILTER (WHERE s.replies IS NULL) >= 3
