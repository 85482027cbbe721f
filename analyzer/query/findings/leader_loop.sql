-- severity: high
-- rank: 32
-- when: errors having bool_or(code = error('NOT_LEADER_OR_FOLLOWER') AND expected IS DISTINCT FROM true)
-- says: {who} keeps sending requests for {topic}-{partition} to a broker that is not its leader, for {lasted_ns} ({times|time|times})[: {stale}][, and was given metadata {asked|time|times} meanwhile]
-- do: Check whether a leader election is stuck (kafka-topics.sh --describe shows no leader), or whether the Metadata requests of the client fail. Where it is given metadata and nothing changes, see whether the address of each broker leads to that broker: a proxy, a translation of addresses or advertised.listeners may lead to another one.
-- look: kanalyze errors --by partition[ --topic {topic}][ --client {who}]
-- explains: metadata_storm, failing(NOT_LEADER_OR_FOLLOWER|LEADER_NOT_AVAILABLE|FENCED_LEADER_EPOCH|UNKNOWN_LEADER_EPOCH), resent_batches
-- costs: refused(NOT_LEADER_OR_FOLLOWER)
-- Up to 10 s such errors belong to every election. Metadata that was asked for anew, once every ten seconds at least, is not old.
WITH loops AS (
    SELECT
        who(x) AS who,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        count(*) AS times,
        max(x.response_time_ns) - min(x.response_time_ns) AS lasted_ns,
        max(x.response_time_ns) - min(x.response_time_ns) AS weight,
        min_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_first,
        max_by(e.exchange, (x.response_time_ns, e.exchange)) AS evidence_last,
        min(x.response_time_ns) AS first_time_ns,
        max(x.response_time_ns) AS last_time_ns
    FROM errors AS e
    JOIN failed_exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE e.code = error('NOT_LEADER_OR_FOLLOWER') AND is_client(x.role) AND e.expected IS DISTINCT FROM true
    GROUP BY c.cluster, who(x), coalesce(e.topic, e.topic_id), e.partition
    -- Fewer than one in 10 s are several elections, no loop.
    HAVING max(x.response_time_ns) - min(x.response_time_ns) > s(10)
        AND count(*) * s(10) >= max(x.response_time_ns) - min(x.response_time_ns)
),
given AS (
    SELECT l.who, l.topic, l.partition, l.first_time_ns, count(*) AS asked
    FROM loops AS l
    JOIN exchanges AS x
        ON who(x) = l.who AND x.api_key = api('Metadata') AND no_error(x.error_code)
        AND x.response_time_ns BETWEEN l.first_time_ns AND l.last_time_ns
    GROUP BY l.who, l.topic, l.partition, l.first_time_ns, l.lasted_ns
    HAVING count(*) >= 3 AND count(*) * s(10) >= l.lasted_ns
)
SELECT l.*, g.asked, CASE WHEN g.asked IS NULL THEN 'its metadata stays out of date' END AS stale
FROM loops AS l
LEFT JOIN given AS g
    ON g.who = l.who AND g.topic IS NOT DISTINCT FROM l.topic AND g.partition IS NOT DISTINCT FROM l.partition
    AND g.first_time_ns = l.first_time_ns
