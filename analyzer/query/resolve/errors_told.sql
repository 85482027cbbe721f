-- Error codes with their connection and the rule of expected_errors about them; with client and time where the rule needs
-- these. Whoever leaves a group without a member id never joined it: librdkafka closes so, and nothing failed.
SELECT
    e.exchange,
    e.side,
    e.code,
    e.api_key,
    e.field,
    e.entity,
    e.error_message,
    e.topic,
    e.topic_id,
    e.partition,
    l.connection,
    l.client_address,
    l.broker_address,
    l.broker_port,
    l.role,
    CASE WHEN a.api_key = api('LeaveGroup') AND e.code = error('UNKNOWN_MEMBER_ID') AND a.member_id = '' THEN 'always'
        ELSE coalesce(x.rule, g.rule) END AS rule,
    CASE WHEN x.rule IS NULL THEN g.seconds ELSE x.seconds END AS seconds,
    x.followed_by,
    g.client_only,
    a.exchange IS NOT NULL AND coalesce(x.rule, g.rule, 'none') IN ('passing', 'first_use', 'followed') AS has_moment,
    a.client_id,
    coalesce(a.response_time_ns, a.request_time_ns) AS time_ns
FROM raw_errors AS e
JOIN connection_context AS l ON l.part = e.part
LEFT JOIN expected_errors AS x ON x.api_key = e.api_key AND x.code = e.code
-- Rules for all APIs without a rule of their own.
LEFT JOIN expected_errors AS g ON g.api_key IS NULL AND g.code = e.code
LEFT JOIN raw_exchanges AS a
    ON a.exchange = e.exchange
    -- True for all exchanges with errors, so that most others need not be read.
    AND a.error_code <> error('NONE')
    AND (coalesce(x.rule, g.rule) IN ('passing', 'first_use', 'followed') OR e.api_key = api('LeaveGroup'))
WHERE l.is_kafka
