-- Which errors, in which API, about which topic, for which client? `count` is codes, `exchanges` the messages that hold
-- them; `expected` of the codes are normal operation, `unjudged` nobody judged. At most 1,000 rows of `total_rows`.
SELECT
    e.code,
    e.name,
    e.retriable,
    x.api_name,
    coalesce(e.topic, e.topic_id) AS topic,
    x.client_id,
    x.client_address,
    count(*) AS count,
    count(DISTINCT e.exchange) AS exchanges,
    count(*) FILTER (WHERE e.expected) AS expected,
    count(*) FILTER (WHERE e.expected IS NULL) AS unjudged,
    max(e.entity) AS entity,
    min(coalesce(x.response_time_ns, x.request_time_ns)) AS first_time_ns,
    max(coalesce(x.response_time_ns, x.request_time_ns)) AS last_time_ns,
    min(e.exchange) AS example_exchange,
    count(*) OVER () AS total_rows
FROM errors AS e JOIN exchanges AS x ON x.exchange = e.exchange
GROUP BY
    e.code, e.name, e.retriable, x.api_name, coalesce(e.topic, e.topic_id), x.client_id, x.client_address
ORDER BY count DESC, code, api_name, topic, client_id, client_address
LIMIT 1000
