-- Which accounts of impact are above their limits, of which no rule about one client tells? One row per account, what it was, API and broker:
-- requests of several clients that took long, requests between brokers that took long, requests that were refused or had no reply, replies
-- that no request asked for, waits for other members, connections that the broker reset, and those that came no further than ApiVersions.
-- `fact` says what happened so many `times`; what other findings explain is taken away later (`analyzer.query.impact_causes`). A group
-- waits for its members whenever it starts: one wait must be as long as a client may be stuck. What is not about time goes on for as long;
-- what brokers refuse each other, for one of them. That is medium from 30 s on, longer than a restarted broker waits until its old session
-- has ended, and so are three requests of clients that took 5 s or longer. What brokers refuse each other has an advice of its own where
-- its error tells (`broker_refusals`).
WITH counted AS (
    SELECT *
    FROM impacts_to_explain
    WHERE (account IN ('time', 'rebalance') AND slow_ns IS NOT NULL)
        OR account = 'refused'
        OR (account = 'unanswered' AND what <> 'pending')
        OR (account = 'connections' AND what IN ('reset by the broker', 'answered no request', 'ended after ApiVersions'))
),
entries AS (
    SELECT
        account,
        what,
        between_brokers,
        api_name,
        broker_address,
        broker_port,
        count(*) AS times,
        count(*) FILTER (WHERE slow_ns >= s(5)) AS very_slow,
        CASE WHEN account IN ('time', 'rebalance') THEN max(slow_ns) END AS longest_ns,
        sum(slow_ns) AS slow_sum_ns,
        coalesce(sum(queue_ns) * 2 > sum(slow_ns), false) AS is_queued,
        count(DISTINCT who()) AS clients,
        min(who()) AS who,
        min(client_address) AS least_address,
        max(client_address) AS client_address,
        min(group_id) AS least_group,
        max(group_id) AS group_id,
        min(at_ns) AS first_time_ns,
        max(until_ns) AS last_time_ns,
        min(exchange) AS evidence_first,
        max_by(exchange, (slow_ns, exchange)) AS evidence_slowest,
        min(connection) AS connection
    FROM counted
    GROUP BY account, what, between_brokers, api_name, broker_address, broker_port,
        CASE WHEN account = 'refused' AND between_brokers THEN client_address END
),
-- Slow ones are told of how many.
answered AS (
    SELECT NOT is_client(role) AS between_brokers, api_name, broker_address, broker_port, count(*) AS requests
    FROM answered_work
    GROUP BY NOT is_client(role), api_name, broker_address, broker_port
)
SELECT
    CAST(e.times AS STRING) || CASE e.account
        WHEN 'time' THEN ' of ' || CAST(a.requests AS STRING)
        WHEN 'connections' THEN ' connections'
        WHEN 'unanswered' THEN CASE WHEN e.what = 'orphan_reply' THEN ' replies' ELSE '' END
        ELSE '' END
        || CASE WHEN e.account = 'connections' OR e.what = 'orphan_reply' THEN '' ELSE ' ' || coalesce(e.api_name, 'requests') END
        || CASE WHEN e.between_brokers THEN ' between brokers' ELSE '' END
        || CASE e.account
        WHEN 'time' THEN ' took 500 ms or longer' || CASE WHEN e.is_queued THEN ', mostly behind others of their connections' ELSE '' END
        WHEN 'rebalance' THEN ' waited 500 ms or longer for other members of their group'
        WHEN 'refused' THEN ' were refused with ' || e.what
        WHEN 'connections' THEN CASE e.what
            WHEN 'reset by the broker' THEN ' were reset by the broker'
            WHEN 'answered no request' THEN ' ended without a reply to any request'
            ELSE ' came no further than ApiVersions, nor did any other of their clients' END
        ELSE CASE e.what WHEN 'orphan_reply' THEN ' came that no request asked for' ELSE ' had no reply' END
    END AS fact,
    e.account,
    e.what,
    CASE WHEN e.account = 'refused' THEN e.what END AS name,
    CASE WHEN r.advice IS NULL THEN 'no rule here knows why' END AS unknown,
    coalesce(r.advice, 'Open the evidence, and look into the log of the broker at that time. What was done to it, or to its clients, before that?') AS advice,
    e.between_brokers,
    CASE WHEN e.least_group = e.group_id THEN e.group_id END AS group_id,
    e.times,
    CAST(NULL AS BIGINT) AS explained,
    CASE WHEN e.account <> 'unanswered' OR e.what <> 'orphan_reply' THEN e.api_name END AS api_name,
    e.longest_ns,
    CASE WHEN e.longest_ns IS NULL THEN last_time_ns - first_time_ns END AS lasted_ns,
    e.broker_address || ':' || CAST(e.broker_port AS STRING) AS broker,
    CASE WHEN clients = 1 THEN who END AS who,
    CASE WHEN clients > 1 THEN clients END AS clients,
    CASE WHEN least_address = client_address THEN client_address END AS client_address,
    CASE
        WHEN e.account = 'time' AND NOT e.between_brokers AND very_slow >= 3 THEN 'medium'
        WHEN e.account IN ('refused', 'unanswered') AND e.between_brokers AND last_time_ns - first_time_ns >= s(30) THEN 'medium'
        ELSE 'info'
    END AS severity,
    e.times AS weight,
    connection,
    evidence_first,
    evidence_slowest,
    first_time_ns,
    last_time_ns
FROM entries AS e
LEFT JOIN answered AS a
    ON e.account = 'time' AND a.between_brokers = e.between_brokers AND a.api_name IS NOT DISTINCT FROM e.api_name
    AND a.broker_address = e.broker_address AND a.broker_port = e.broker_port
LEFT JOIN broker_refusals AS r
    ON e.account = 'refused' AND e.between_brokers AND r.error = e.what
    -- Who fetches follows the partition; others that are refused so lead it.
    AND (r.error <> 'UNKNOWN_TOPIC_ID' OR e.api_name = 'Fetch')
WHERE CASE e.account
    WHEN 'time' THEN times >= greatest(3, impact('slow_share') * a.requests) AND slow_sum_ns >= impact('slow_ns')
        AND (e.between_brokers OR clients > 1)
    WHEN 'rebalance' THEN longest_ns >= impact('stuck_ns')
    ELSE times >= impact('refusals') AND last_time_ns - first_time_ns >= impact('stuck_ns')
END
