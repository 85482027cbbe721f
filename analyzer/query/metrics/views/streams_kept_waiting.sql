-- Streams groups whose coordinator says in reply to heartbeats what keeps them from their work (KIP-1071): one row a group, with
-- what was said last. Internal topics are missing while they are made, and topologies differ during a roll-out: less than 10 s at a
-- time are no trouble. A heartbeat comes every 15 s at least, so what is not said again in 20 s was over. Members with an older
-- topology go on with the tasks that they have: where no more is said, that is for information. Who is told to stop stops: that
-- counts at once.
WITH told AS (
    SELECT
        cluster,
        group_id,
        exchange,
        time_ns,
        group_status,
        coalesce(time_ns - lag(time_ns) OVER (PARTITION BY cluster, group_id ORDER BY time_ns, exchange) > s(20), true) AS is_new
    FROM group_news
    WHERE group_status IS NOT NULL
        -- The first assignment waits for members that begin a little later.
        AND group_status <> 'ASSIGNMENT_DELAYED'
),
numbered AS (
    SELECT
        *,
        count(*) FILTER (WHERE is_new) OVER (PARTITION BY cluster, group_id ORDER BY time_ns, exchange) AS place
    FROM told
),
times AS (
    SELECT
        cluster,
        group_id,
        max_by(group_status, (time_ns, exchange)) AS told_last,
        count(*) AS told,
        min_by(exchange, (time_ns, exchange)) AS first_exchange,
        max_by(exchange, (time_ns, exchange)) AS last_exchange,
        min(time_ns) AS begin_ns,
        max(time_ns) AS end_ns
    FROM numbered
    GROUP BY cluster, group_id, place
    HAVING max(time_ns) - min(time_ns) >= s(10) OR max_by(group_status, (time_ns, exchange)) LIKE '%SHUTDOWN_APPLICATION%'
),
groups AS (
    SELECT
        group_id,
        max_by(told_last, end_ns) AS told_last,
        CAST(sum(told) AS BIGINT) AS weight,
        min_by(first_exchange, begin_ns) AS evidence_first,
        max_by(last_exchange, end_ns) AS evidence_last,
        min(begin_ns) AS first_time_ns,
        max(end_ns) AS last_time_ns
    FROM times
    GROUP BY cluster, group_id
)
SELECT
    * EXCLUDE (told_last, is_stale),
    told_last AS status,
    CASE WHEN is_stale THEN 'has members of an older version' WHEN told_last LIKE '%SHUTDOWN_APPLICATION%' THEN 'is asked to stop' ELSE 'does not do its work' END AS trouble,
    CASE WHEN is_stale THEN 'info' ELSE 'medium' END AS severity,
    CASE
        WHEN told_last LIKE 'MISSING_SOURCE_TOPICS%' THEN 'Create the topics that this application reads (kafka-topics.sh --create), or correct their names in it: the reply that is the evidence says which are missing (`kanalyze show`).'
        WHEN told_last LIKE 'INCORRECTLY_PARTITIONED_TOPICS%' THEN 'Topics that are joined need the same number of partitions: make them anew with equal numbers, or repartition one of them in the application.'
        WHEN told_last LIKE 'MISSING_INTERNAL_TOPICS%' THEN 'The broker could not create the internal topics of this application: allow its user to create topics, or create them by hand, and see the log of the coordinator.'
        WHEN told_last LIKE 'STALE_TOPOLOGY%' THEN 'Members run an older topology than their group: finish the roll-out, so that all run the same version.'
        WHEN told_last LIKE '%SHUTDOWN_APPLICATION%' THEN 'A member asked the whole application to stop: its log says why. Start the members again when that is mended.'
        ELSE 'See the log of the application and of the coordinator of this group.'
    END AS advice
FROM (SELECT *, told_last = 'STALE_TOPOLOGY' AS is_stale FROM groups) AS g
