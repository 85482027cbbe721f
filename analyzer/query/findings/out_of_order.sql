-- severity: high
-- rank: 20
-- when: errors having bool_or(code = 45)
-- says: {who} sent batches out of order to {topic}, {times|time|times}: the broker refused them
-- do: Records were lost before the broker, or two producers share an id: an idempotent producer should be closed and begun anew.
-- look: kanalyze transactions[ --client {who}]
SELECT
    coalesce(x.client_id, x.client_address) AS who,
    coalesce(e.topic, e.topic_id) AS topic,
    count(*) AS times,
    count(*) AS weight,
    min_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_first,
    max_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_last,
    min(x.response_time_ns) AS first_time_ns,
    max(x.response_time_ns) AS last_time_ns
FROM errors AS e
JOIN failed_exchanges AS x ON x.exchange = e.exchange
JOIN connections AS c ON c.connection = x.connection
WHERE e.code = 45 AND x.api_name = 'Produce'
GROUP BY c.cluster, coalesce(x.client_id, x.client_address), coalesce(e.topic, e.topic_id)
