-- Answered requests that do not wait by design, and work that clients ask for (CreateTopics ...), with the parts of their latency.
SELECT x.*
FROM exchange_parts AS x
LEFT JOIN kinds AS k ON k.kind = x.kind
WHERE x.latency_ns IS NOT NULL AND (coalesce(k.reach, 'broker') = 'broker' OR (x.kind = 'wait' AND is_client(x.role)))
