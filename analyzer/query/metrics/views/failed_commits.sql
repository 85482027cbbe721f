-- Whose offset commits fail? One row per group, error and client. High from three commits on: fewer are one rebalance. Who names no
-- member commits from outside of the group (a tool that resets offsets, a consumer that assigns partitions itself), which a coordinator
-- refuses while the group has members: no member lost anything by that.
WITH failed AS (
    SELECT
        who(x) AS who,
        c.cluster,
        x.group_id,
        coalesce(e.name, CAST(e.code AS STRING)) AS name,
        e.code = error('UNKNOWN_MEMBER_ID') AND coalesce(x.member_id = '', false) AS from_outside,
        e.code = error('STALE_MEMBER_EPOCH') AS is_stale,
        e.exchange,
        x.response_time_ns AS time_ns
    FROM errors AS e
    JOIN failed_exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE e.code IN (error('ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'STALE_MEMBER_EPOCH'))
        AND x.api_name IN ('OffsetCommit', 'TxnOffsetCommit')
)
SELECT
    who,
    group_id,
    name,
    count(DISTINCT exchange) AS times,
    CASE WHEN from_outside THEN 'it names no member, and the group has some'
        WHEN is_stale THEN 'the group has given this member a newer epoch' ELSE 'records will be consumed again' END AS effect,
    CASE
        WHEN from_outside
            THEN 'Who is no member may commit for a group without members alone: stop its members before a tool sets their offsets, or give a consumer that assigns partitions itself a group.id of its own.'
        WHEN is_stale
            THEN 'The group coordinator has given this member a newer epoch than the commit names: a member takes that up with its next heartbeat, and commits again. Where it does not, time after time, upgrade its library.'
        ELSE 'The member was removed from the group before it committed: check how long it processes between two polls (max.poll.interval.ms), and the rebalances of the group.'
    END AS advice,
    count(DISTINCT exchange) AS weight,
    CASE WHEN count(DISTINCT exchange) >= 3 AND NOT from_outside THEN 'high' ELSE 'medium' END AS severity,
    min_by(exchange, (time_ns, exchange)) AS evidence_first,
    max_by(exchange, (time_ns, exchange)) AS evidence_last,
    min(time_ns) AS first_time_ns,
    max(time_ns) AS last_time_ns
FROM failed
GROUP BY cluster, who, group_id, name, from_outside, is_stale
