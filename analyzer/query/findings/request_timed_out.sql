-- severity: medium
-- rank: 10
-- when: errors having bool_or(code = error('REQUEST_TIMED_OUT'))
-- says: {api_name} requests of {who} timed out at the broker (REQUEST_TIMED_OUT), {times|time|times}[, topic {topic}]
-- do: For Produce, the followers did not replicate in time; for other APIs, the controller or coordinator did not answer in time: check that broker.
-- look: kanalyze errors --api {api_name}[ --client {who}]
-- explains: slow_requests
-- costs: refused(REQUEST_TIMED_OUT), time
SELECT
    who(x) AS who,
    x.api_name,
    max(coalesce(e.topic, e.topic_id)) AS topic,
    count(*) AS times,
    count(*) AS weight,
    min_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_first,
    max_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_last,
    min(x.response_time_ns) AS first_time_ns,
    max(x.response_time_ns) AS last_time_ns
FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
WHERE e.code = error('REQUEST_TIMED_OUT') AND is_client(x.role)
GROUP BY who(x), x.api_name
