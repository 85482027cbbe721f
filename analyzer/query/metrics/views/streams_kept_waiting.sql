-- Streams groups whose coordinator says in reply to heartbeats what keeps them from their work (KIP-1071): one row a group, with what was
-- said last. Internal topics are missing while they are made, and topologies differ during a roll-out: less than 10 s are no trouble.
WITH told AS (
    SELECT cluster, group_id, exchange, time_ns, group_status
    FROM group_news
    WHERE group_status IS NOT NULL
        -- The first assignment waits for members that begin a little later.
        AND NOT (group_status LIKE 'ASSIGNMENT_DELAYED:%' AND group_status NOT LIKE '%; %')
),
groups AS (
    SELECT
        group_id,
        max_by(group_status, (time_ns, exchange)) AS told_last,
        count(*) AS weight,
        min_by(exchange, (time_ns, exchange)) AS evidence_first,
        max_by(exchange, (time_ns, exchange)) AS evidence_last,
        min(time_ns) AS first_time_ns,
        max(time_ns) AS last_time_ns
    FROM told
    GROUP BY cluster, group_id
    HAVING max(time_ns) - min(time_ns) >= s(10)
)
SELECT
    * EXCLUDE (told_last),
    CASE WHEN length(told_last) > 200 THEN substring(told_last, 1, 200) || ' ...' ELSE told_last END AS status,
    CASE
        WHEN told_last LIKE 'MISSING_SOURCE_TOPICS%' THEN 'Create the topics that this application reads (kafka-topics.sh --create), or correct their names in it.'
        WHEN told_last LIKE 'INCORRECTLY_PARTITIONED_TOPICS%' THEN 'Topics that are joined need the same number of partitions: make them anew with equal numbers, or repartition one of them in the application.'
        WHEN told_last LIKE 'MISSING_INTERNAL_TOPICS%' THEN 'The broker could not create the internal topics of this application: allow its user to create topics, or create them by hand, and see the log of the coordinator.'
        WHEN told_last LIKE 'STALE_TOPOLOGY%' THEN 'Members run an older topology than their group: finish the roll-out, so that all run the same version.'
        WHEN told_last LIKE 'SHUTDOWN_APPLICATION%' THEN 'A member asked the whole application to stop: its log says why. Start the members again when that is mended.'
        ELSE 'See the log of the application and of the coordinator of this group.'
    END AS advice
FROM groups
