-- severity: high
-- rank: 24
-- when: errors having bool_or(code IN (47, 90))
-- says: producer {named}[ and {others|other client|other clients}][ (transactional id {transactional_id})] {was} fenced ({name}), {times|time|times}: another producer took its place
-- do: Two instances use the same transactional.id, or one resumed after a pause: give each instance an id of its own, or stop the old one.
-- look: kanalyze transactions[ --client {who}]
-- explains: failing(INVALID_TXN_STATE|INVALID_PRODUCER_ID_MAPPING|UNKNOWN_PRODUCER_ID|CONCURRENT_TRANSACTIONS), resent_batches, unanswered
-- Once or twice is what fencing is for: an instance came back after another had taken over. High when it goes on. Who has one
-- transactional id and is thrown out by turns is one finding.
WITH fenced AS (
    SELECT
        e.exchange,
        e.name,
        coalesce(x.client_id, x.client_address) AS client,
        x.response_time_ns,
        -- A Produce that was cut off does not tell its id; another request of the same client does.
        coalesce(
            x.transactional_id, max(x.transactional_id) OVER (PARTITION BY coalesce(x.client_id, x.client_address))
        ) AS transactional_id
    FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
    WHERE e.code IN (47, 90) AND coalesce(x.role, 'client') = 'client'
),
shared AS (
    SELECT transactional_id FROM fenced GROUP BY transactional_id HAVING min(client) <> max(client)
)
SELECT
    CASE WHEN min(f.client) = max(f.client) THEN max(f.client) END AS who,
    min_by(f.client, (f.response_time_ns, f.exchange)) AS named,
    nullif(count(DISTINCT f.client) - 1, 0) AS others,
    CASE WHEN min(f.client) = max(f.client) THEN 'was' ELSE 'were' END AS was,
    max(f.transactional_id) AS transactional_id,
    CASE WHEN min(f.name) = max(f.name) THEN max(f.name) ELSE min(f.name) || ' and ' || max(f.name) END AS name,
    count(DISTINCT f.exchange) AS times,
    count(DISTINCT f.exchange) AS weight,
    CASE WHEN count(DISTINCT f.exchange) >= 3 THEN 'high' ELSE 'medium' END AS severity,
    min_by(f.exchange, (f.response_time_ns, f.exchange)) AS evidence_first,
    max_by(f.exchange, (f.response_time_ns, f.exchange)) AS evidence_last,
    min(f.response_time_ns) AS first_time_ns,
    max(f.response_time_ns) AS last_time_ns
FROM fenced AS f LEFT JOIN shared AS s ON s.transactional_id = f.transactional_id
GROUP BY CASE WHEN s.transactional_id IS NULL THEN f.client END, s.transactional_id
