-- severity: high
-- rank: 32
-- when: errors having bool_or(code = error('NOT_LEADER_OR_FOLLOWER') AND expected IS DISTINCT FROM true)
-- says: {who} keeps sending requests for {topic}-{partition} to a broker that is not its leader, for {lasted_ns} ({times|time|times})[: {stale}][, and was given metadata {asked|time|times} meanwhile]
-- do: Check whether a leader election is stuck (kafka-topics.sh --describe shows no leader), or whether the Metadata requests of the client fail. Where it is given metadata and nothing changes, see whether the address of each broker leads to that broker: a proxy, a translation of addresses or advertised.listeners may lead to another one.
-- look: kanalyze errors --by partition[ --topic {topic}][ --client {who}]
-- explains: metadata_storm, failing(NOT_LEADER_OR_FOLLOWER|LEADER_NOT_AVAILABLE|FENCED_LEADER_EPOCH|UNKNOWN_LEADER_EPOCH), resent_batches
-- costs: refused(NOT_LEADER_OR_FOLLOWER)
-- Up to 10 s such errors belong to every election. Metadata that was asked for anew, once every ten seconds at least, is not old; whose
-- it is, of several hosts with one name, is not told; nor is anything where it may be of another cluster.
WITH loops AS (
    SELECT
        row_number() OVER () AS number,
        c.cluster,
        who(x) AS who,
        CASE WHEN min(x.client_address) = max(x.client_address) THEN min(x.client_address) END AS client_address,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        count(*) AS times,
        max(x.response_time_ns) - min(x.response_time_ns) AS lasted_ns,
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
-- How much metadata a client had been given when a loop began, and when it ended: joined with each loop, it would be compared with all.
given AS (
    SELECT number, max(given) - min(given) AS asked, max(given_anywhere) - min(given_anywhere) AS asked_anywhere
    FROM (
        SELECT
            number,
            count(*) FILTER (WHERE number IS NULL) OVER (PARTITION BY cluster, who, client_address ORDER BY time_ns) AS given,
            count(*) FILTER (WHERE number IS NULL) OVER (PARTITION BY who, client_address ORDER BY time_ns) AS given_anywhere
        FROM (
            SELECT number, cluster, who, client_address, unnest([first_time_ns - 1, last_time_ns]) AS time_ns
            FROM loops
            WHERE client_address IS NOT NULL
            UNION ALL
            SELECT NULL AS number, c.cluster, who(x) AS who, x.client_address, x.response_time_ns AS time_ns
            FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
            WHERE x.api_key = api('Metadata') AND x.response_time_ns IS NOT NULL AND no_error(x.error_code)
                AND who(x) IN (SELECT who FROM loops)
        ) AS t
    ) AS u
    WHERE number IS NOT NULL
    GROUP BY number
)
SELECT
    l.* EXCLUDE (number, cluster, client_address),
    l.lasted_ns AS weight,
    CASE WHEN g.asked >= 3 AND g.asked * s(10) >= l.lasted_ns THEN g.asked END AS asked,
    CASE WHEN g.asked_anywhere < 3 OR g.asked_anywhere * s(10) < l.lasted_ns THEN 'its metadata stays out of date' END AS stale
FROM loops AS l
LEFT JOIN given AS g ON g.number = l.number
