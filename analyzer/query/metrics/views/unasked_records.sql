-- What did a member of a group not ask for, though it was written? One row a client and partition: `records` written since its last Fetch,
-- thirty at least. Who has a Fetch under way does ask.
WITH asking AS (
    SELECT x.client_address, x.client_id
    FROM pending_requests AS p JOIN exchanges AS x ON x.exchange = p.exchange
    WHERE x.api_key = api('Fetch')
    GROUP BY x.client_address, x.client_id
)
SELECT
    who(i) AS who,
    i.client_address,
    i.group_id,
    i.topic,
    i.partition,
    i.until_ns - i.since_ns AS idle_ns,
    CAST(sum(p.records) AS BIGINT) AS records,
    CAST(sum(p.records) AS BIGINT) AS weight,
    min_by(p.exchange, (p.request_time_ns, p.exchange)) AS evidence_first,
    max_by(p.exchange, (p.request_time_ns, p.exchange)) AS evidence_last,
    i.since_ns AS first_time_ns,
    i.until_ns AS last_time_ns
FROM idle_readers AS i
JOIN produced AS p ON p.topic = i.topic AND p.partition = i.partition AND p.request_time_ns > i.since_ns
JOIN connections AS c ON c.connection = p.connection AND c.cluster IS NOT DISTINCT FROM i.cluster
LEFT JOIN asking AS a ON a.client_address = i.client_address AND a.client_id IS NOT DISTINCT FROM i.client_id
WHERE a.client_address IS NULL
GROUP BY i.client_id, i.client_address, i.group_id, i.topic, i.partition, i.since_ns, i.until_ns
HAVING sum(p.records) >= 30
