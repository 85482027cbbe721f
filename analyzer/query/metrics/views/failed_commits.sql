-- Whose offset commits fail? One row per group, error and client (for one error: per group): `times`, `meaning` in
-- words.
-- High from three commits on: fewer are one rebalance. FENCED_INSTANCE_ID means one thing, whichever of the two commits: the processes
-- throw each other out, so it is told once for a group.
SELECT
    CASE
        WHEN min(who(x)) = max(who(x))
            THEN max(who(x))
    END AS who,
    min_by(who(x), (x.response_time_ns, e.exchange)) AS named,
    nullif(count(DISTINCT who(x)) - 1, 0) AS others,
    x.group_id,
    coalesce(e.name, CAST(e.code AS STRING)) AS name,
    CASE
        WHEN max(e.code) = error('FENCED_INSTANCE_ID') THEN 'two processes use one group.instance.id, and each throws the other out'
        ELSE 'records will be consumed again'
    END AS meaning,
    CASE
        WHEN max(e.code) = error('FENCED_INSTANCE_ID')
            THEN 'Give each process a group.instance.id of its own, or stop the one that is left over.'
        ELSE 'The member was removed from the group before it committed: check how long it processes between two polls (max.poll.interval.ms), and the rebalances of the group.'
    END AS advice,
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
WHERE e.code IN (error('ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID', 'STALE_MEMBER_EPOCH'))
    AND x.api_name IN ('OffsetCommit', 'TxnOffsetCommit')
GROUP BY
    c.cluster, CASE WHEN e.code <> error('FENCED_INSTANCE_ID') THEN who(x) END, x.group_id,
    coalesce(e.name, CAST(e.code AS STRING))
