-- severity: high
-- rank: 34
-- when: group_news having count(DISTINCT generation) FILTER (WHERE event = 'join' AND group_type = 'classic') >= 4
-- says: group {group_id}[ ({of_application})] keeps rebalancing, {rebalances|time|times} within 5 min, although its members stay the same ({members|member|members})
-- do: A member takes too long between two polls (max.poll.interval.ms), or its heartbeats are delayed: `kanalyze groups` shows which member starts each rebalance.
-- look: kanalyze groups[ --group {group_id}]
-- explains: restarting_member, stuck_member, commit_failures, failing(UNKNOWN_MEMBER_ID|ILLEGAL_GENERATION|REBALANCE_IN_PROGRESS|FENCED_MEMBER_EPOCH|STALE_MEMBER_EPOCH|UNRELEASED_INSTANCE_ID)
-- costs: rebalance
-- A generation counts when the members are those of the one before it: known by instance id, else by client id and address, and one of
-- them still on the connection that it joined by before: a job that begins anew each time is no loop. What the leader is told of
-- their number must agree: of a group that is seen in part nobody knows whether its members stay. One of them must have got a new
-- member id on its old connection, or twice within 5 min: a release that is rolled out brings each anew once, on a new connection,
-- and who keeps the old id was not thrown out, but asked for the rebalance (requested_rebalances).
WITH members AS (
    SELECT
        cluster,
        group_id,
        generation,
        coalesce(instance_id, client_id || ' ' || client_address) AS member,
        max(members) AS told_members,
        min(member_id) AS member_id,
        lag(max(member_id)) OVER (
            PARTITION BY cluster, group_id, coalesce(instance_id, client_id || ' ' || client_address) ORDER BY generation
        ) AS id_before,
        min(connection) AS connection,
        lag(min(connection)) OVER (
            PARTITION BY cluster, group_id, coalesce(instance_id, client_id || ' ' || client_address) ORDER BY generation
        ) AS connection_before,
        min(time_ns) AS time_ns,
        min_by(exchange, (time_ns, exchange)) AS exchange
    FROM group_news
    WHERE group_type = 'classic' AND event = 'join' AND error_code = error('NONE') AND generation > 0
    GROUP BY cluster, group_id, generation, coalesce(instance_id, client_id || ' ' || client_address)
),
returns AS (
    SELECT
        *,
        member_id <> id_before AND (
            connection = connection_before
            OR count(*) FILTER (WHERE member_id <> id_before) OVER (
                PARTITION BY cluster, group_id, member
                ORDER BY time_ns RANGE BETWEEN s(300) PRECEDING AND s(300) FOLLOWING
            ) >= 2
        ) AS comes_anew
    FROM members
),
generations AS (
    SELECT
        cluster,
        group_id,
        generation,
        count(*) AS members,
        max(told_members) AS told_members,
        min(member) AS first_member,
        max(member) AS last_member,
        min_by(connection, member) AS first_connection,
        max_by(connection, member) AS last_connection,
        bool_or(comes_anew) AS comes_anew,
        min(time_ns) AS time_ns,
        min_by(exchange, (time_ns, exchange)) AS exchange
    FROM returns
    GROUP BY cluster, group_id, generation
),
compared AS (
    SELECT
        *,
        comes_anew AND members = told_members AND members = lag(members) OVER following AND first_member = lag(first_member) OVER following
            AND last_member = lag(last_member) OVER following
            AND (first_connection = lag(first_connection) OVER following OR last_connection = lag(last_connection) OVER following)
            AS unchanged
    FROM generations
    WINDOW following AS (PARTITION BY cluster, group_id ORDER BY generation)
),
counted AS (
    SELECT
        *,
        count(*) OVER (
            PARTITION BY cluster, group_id ORDER BY time_ns RANGE BETWEEN s(300) PRECEDING AND CURRENT ROW
        ) AS rebalances
    FROM compared
    WHERE unchanged
)
SELECT
    c.group_id,
    max(a.of_application) AS of_application,
    max(rebalances) AS rebalances,
    max(members) AS members,
    max(rebalances) AS weight,
    min_by(exchange, (time_ns, exchange)) AS evidence_first,
    max_by(exchange, (time_ns, exchange)) AS evidence_last,
    min(time_ns) AS first_time_ns,
    max(time_ns) AS last_time_ns
FROM counted AS c LEFT JOIN group_applications AS a ON a.group_id = c.group_id
GROUP BY c.cluster, c.group_id
HAVING max(rebalances) >= 3
