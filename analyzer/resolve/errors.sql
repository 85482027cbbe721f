-- Error codes with Apache's names, and where in its message each stood. `expected` is told only of codes that always are.
SELECT
    e.exchange,
    p.connection,
    e.side,
    e.code,
    n.name,
    n.retriable,
    CASE WHEN x.always THEN true END AS expected,
    f.level,
    f.path,
    e.entity,
    coalesce(e.topic, t.topic) AS topic,
    e.topic_id,
    e.partition
FROM raw_errors AS e
JOIN parts AS p ON p.part = e.part
LEFT JOIN error_names AS n ON n.code = e.code
LEFT JOIN error_fields AS f ON f.api_key = e.api_key AND f.side = e.side AND f.field = e.field
LEFT JOIN expected_errors AS x ON x.api_key = e.api_key AND x.code = e.code
LEFT JOIN topic_names AS t ON t.topic_id = e.topic_id
WHERE p.is_kafka
