-- Clients that a quota holds up, one row a client at an address and user.
-- A client's share is that of its worst connection: mutes of one connection are united, those of several never added.
-- Lost: a request waited for the end of a mute, or the client sent nothing in it and went on within 100 ms of its end.
-- High from 5 % of the connection's life and 1 s lost on; with 1 s of mute medium; less is not worth a line.
WITH ordered AS (
    SELECT
        connection,
        begin_ns,
        end_ns,
        CASE WHEN sent_inside = 0 AND resumed_ns <= ms(100) THEN end_ns - begin_ns ELSE held_ns END AS held_ns,
        max(end_ns) OVER (
            PARTITION BY connection ORDER BY begin_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS covered_ns
    FROM mutes
    WHERE applies
),
muted AS (
    SELECT
        o.connection,
        CAST(sum(greatest(o.end_ns - greatest(o.begin_ns, coalesce(o.covered_ns, o.begin_ns)), 0)) AS BIGINT) AS muted_ns,
        CAST(least(
            sum(coalesce(o.held_ns, 0)),
            sum(greatest(o.end_ns - greatest(o.begin_ns, coalesce(o.covered_ns, o.begin_ns)), 0))
        ) AS BIGINT) AS held_ns,
        max(o.end_ns) AS last_ns,
        count(*) AS replies
    FROM ordered AS o
    GROUP BY o.connection
),
-- Before 2.0 a broker spends the throttle before its reply: there is no mute, the wait is in the latency. Replies may claim any
-- time, and nobody waited for longer than the connection lasted.
waited AS (
    SELECT
        m.connection,
        CAST(least(sum(CAST(m.throttle_time_ms AS BIGINT)), (c.last_time_ns - c.first_time_ns) / ms(1)) AS BIGINT) * ms(1)
            AS muted_ns,
        CAST(least(sum(CAST(m.throttle_time_ms AS BIGINT)), (c.last_time_ns - c.first_time_ns) / ms(1)) AS BIGINT) * ms(1)
            AS held_ns,
        max(m.end_ns) AS last_ns,
        count(*) AS replies
    FROM mutes AS m JOIN connections AS c ON c.connection = m.connection
    WHERE NOT m.applies
    GROUP BY m.connection, c.last_time_ns, c.first_time_ns
),
by_api AS (
    SELECT
        connection,
        api_name,
        max(client_id) AS client_id,
        max(client_address) AS client_address,
        max(principal) AS principal,
        sum(CAST(throttle_time_ms AS BIGINT)) AS told_ms,
        max(throttle_time_ms) AS longest_ms,
        max_by(exchange, (throttle_time_ms, exchange)) AS longest_exchange,
        min_by(exchange, (response_time_ns, exchange)) AS first_exchange,
        min(response_time_ns) AS first_time_ns,
        max(response_time_ns) AS last_time_ns
    FROM exchanges
    WHERE throttle_time_ms > 0 AND is_client(role)
    GROUP BY connection, api_name
),
named AS (
    SELECT
        connection,
        max(client_id) AS client_id,
        max(client_address) AS client_address,
        max(principal) AS principal,
        max_by(api_name, (told_ms, api_name)) AS most_api,
        count(*) AS api_count,
        sum(told_ms) AS told_ms,
        max_by(longest_exchange, (longest_ms, longest_exchange)) AS evidence_longest,
        min_by(first_exchange, (first_time_ns, first_exchange)) AS evidence_first,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM by_api
    GROUP BY connection
),
shares AS (
    SELECT
        n.* EXCLUDE (last_time_ns),
        greatest(n.last_time_ns, m.last_ns) AS last_time_ns,
        m.muted_ns,
        m.held_ns,
        m.replies,
        -- A mute without a packet is part of the connection's life.
        CASE WHEN greatest(c.last_time_ns, m.last_ns) > c.first_time_ns
            THEN least(CAST(m.muted_ns AS DOUBLE) / (greatest(c.last_time_ns, m.last_ns) - c.first_time_ns), 1e0) END AS muted_share
    FROM (SELECT * FROM muted UNION ALL SELECT * FROM waited) AS m
    JOIN named AS n ON n.connection = m.connection
    JOIN connections AS c ON c.connection = m.connection
),
clients AS (
    SELECT
        client_id,
        client_address,
        principal,
        max_by(connection, (muted_ns, connection)) AS connection,
        max(muted_share) AS muted_share,
        max(muted_ns) AS muted_ns,
        max(held_ns) AS held_ns,
        CAST(sum(replies) AS BIGINT) AS replies,
        TRY_CAST(CAST(sum(told_ms) AS DECIMAL(38, 0)) * ms(1) AS BIGINT) AS told_ns,
        max_by(most_api, (muted_ns, connection)) AS most_api,
        max(api_count) AS api_count,
        max_by(evidence_longest, (muted_ns, connection)) AS evidence_longest,
        max_by(evidence_first, (muted_ns, connection)) AS evidence_first,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM shares
    GROUP BY client_id, client_address, principal
)
SELECT
    who() AS who,
    CASE WHEN client_id <> '' THEN client_address END AS host,
    client_id,
    principal,
    connection,
    CASE WHEN api_count > 1 THEN most_api || ' and others' ELSE most_api END AS apis,
    muted_share,
    muted_ns,
    held_ns,
    told_ns,
    replies,
    CASE WHEN most_api IN ('CreateTopics', 'CreatePartitions', 'DeleteTopics')
        THEN 'Topics have a quota of their own (controller_mutation_rate, in partitions a second): raise it for this user or client id (kafka-configs.sh --alter), or create and delete fewer at a time. What is refused because of it (THROTTLING_QUOTA_EXCEEDED) has to be asked again after the throttle.'
        ELSE 'Raise the quota of this user or client id (kafka-configs.sh --alter), spread its load, or limit its rate in the client.'
    END AS advice,
    CASE WHEN muted_share >= 0.05 AND held_ns >= s(1) THEN 'high' ELSE 'medium' END AS severity,
    held_ns AS weight,
    evidence_longest,
    evidence_first,
    first_time_ns,
    last_time_ns
FROM clients
WHERE muted_ns >= s(1)
