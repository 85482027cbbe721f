-- severity: high
-- rank: 24
-- when: errors having bool_or(code IN (47, 90))
-- says: producer {who}[ (transactional id {transactional_id})] was fenced ({name}), {times|time|times}: another producer took its place
-- do: Two instances use the same transactional.id, or one resumed after a pause: give each instance an id of its own, or stop the old one.
-- look: kanalyze transactions[ --client {who}]
-- explains: failing, resent_batches, unanswered
-- Once or twice is what fencing is for: an instance came back after another had taken over. High when it goes on.
SELECT
    coalesce(x.client_id, x.client_address) AS who,
    max(x.transactional_id) AS transactional_id,
    CASE WHEN min(e.name) = max(e.name) THEN max(e.name) ELSE min(e.name) || ' and ' || max(e.name) END AS name,
    count(DISTINCT e.exchange) AS times,
    count(DISTINCT e.exchange) AS weight,
    CASE WHEN count(DISTINCT e.exchange) >= 3 THEN 'high' ELSE 'medium' END AS severity,
    min_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_first,
    max_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_last,
    min(x.response_time_ns) AS first_time_ns,
    max(x.response_time_ns) AS last_time_ns
FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
WHERE e.code IN (47, 90) AND coalesce(x.role, 'client') = 'client'
GROUP BY coalesce(x.client_id, x.client_address)
