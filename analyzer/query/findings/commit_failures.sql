-- severity: high
-- rank: 22
-- when: errors having bool_or(code IN (22, 25, 82, 113))
-- says: offset commits of group {group_id} by {who} fail with {name}, {times|time|times}: records will be consumed again
-- do: The member was removed from the group before it committed: check how long it processes between two polls (max.poll.interval.ms), and the rebalances of the group.
-- look: kanalyze groups[ --group {group_id}]
-- explains: failing
-- High from three commits on: fewer are one rebalance.
SELECT
    coalesce(x.client_id, x.client_address) AS who,
    x.group_id,
    coalesce(e.name, CAST(e.code AS STRING)) AS name,
    count(DISTINCT e.exchange) AS times,
    count(DISTINCT e.exchange) AS weight,
    CASE WHEN count(DISTINCT e.exchange) >= 3 THEN 'high' ELSE 'medium' END AS severity,
    min_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_first,
    max_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_last,
    min(x.response_time_ns) AS first_time_ns,
    max(x.response_time_ns) AS last_time_ns
FROM errors AS e
JOIN failed_exchanges AS x ON x.exchange = e.exchange
JOIN connections AS c ON c.connection = x.connection
WHERE e.code IN (22, 25, 82, 113) AND x.api_name IN ('OffsetCommit', 'TxnOffsetCommit')
GROUP BY c.cluster, coalesce(x.client_id, x.client_address), x.group_id, coalesce(e.name, CAST(e.code AS STRING))
