-- Whose offset commits fail? One row per group, error and client. High from three commits on: fewer are one rebalance.
SELECT
    who(x) AS who,
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
WHERE e.code IN (error('ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'STALE_MEMBER_EPOCH'))
    AND x.api_name IN ('OffsetCommit', 'TxnOffsetCommit')
GROUP BY c.cluster, who(x), x.group_id, coalesce(e.name, CAST(e.code AS STRING))
