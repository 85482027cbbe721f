-- Who gives up transactions? One row per client.
-- Medium where half of them or more are given up.
SELECT
    coalesce(t.client_id, c.client_address) AS who,
    CASE WHEN min(c.client_address) = max(c.client_address) THEN min(c.client_address) END AS client_address,
    CASE WHEN min(t.transactional_id) = max(t.transactional_id) THEN min(t.transactional_id) END AS transactional_id,
    count(*) FILTER (WHERE NOT t.committed) AS aborted,
    count(*) AS ended,
    CASE WHEN 2 * count(*) FILTER (WHERE NOT t.committed) >= count(*) THEN 'medium' ELSE 'info' END AS severity,
    count(*) FILTER (WHERE NOT t.committed) AS weight,
    min_by(t.exchange, (t.time_ns, t.exchange)) FILTER (WHERE NOT t.committed) AS evidence_first,
    max_by(t.exchange, (t.time_ns, t.exchange)) FILTER (WHERE NOT t.committed) AS evidence_last,
    min(t.time_ns) FILTER (WHERE NOT t.committed) AS first_time_ns,
    max(t.time_ns) FILTER (WHERE NOT t.committed) AS last_time_ns
FROM transaction_events AS t JOIN connections AS c ON c.connection = t.connection
WHERE t.event = 'end' AND t.committed IS NOT NULL AND no_error(t.error_code)
GROUP BY coalesce(t.client_id, c.client_address)
HAVING count(*) FILTER (WHERE NOT t.committed) >= impact('refusals')
    AND count(*) FILTER (WHERE NOT t.committed) >= impact('slow_share') * count(*)
