-- severity: high
-- rank: 7
-- when: connections having bool_or(is_kafka IS NOT TRUE AND seen_from = 'syn' AND syn_ack_ns IS NULL)
-- says: controller {broker} became unavailable: {attempts|connection attempt|connection attempts}[ from {several|broker|brokers}] failed after its last reply[, {back}][, while {others|other controller answers|other controllers answer}]
-- do: Check the log of this controller and its host. As long as a cluster has no controller, no partition gets a new leader, and topics are neither made, deleted nor altered: who asks for that waits.
-- look: kanalyze connections --broker {broker}
-- explains: refused_connections, unreachable, connection_storm, unanswered, gives_up, slow_requests*(CreateTopics|DeleteTopics|CreatePartitions|AlterConfigs|IncrementalAlterConfigs|AlterPartitionReassignments|ElectLeaders), request_timed_out*(CreateTopics|DeleteTopics|CreatePartitions|AlterConfigs|IncrementalAlterConfigs|AlterPartitionReassignments|ElectLeaders), unexplained
-- costs: connections
-- A port that served brokers alone, all of whose connections ended, and that refused or ignored three attempts since. For
-- information when it came back and did not fail three times again, or another controller of the same brokers answers until the end of
-- these attempts (to within 3 s).
WITH served AS (
    SELECT broker_address, broker_port, max(first_time_ns) AS last_begin_ns, max(last_time_ns) AS last_ns, max(connection) AS connection
    FROM all_connections
    WHERE is_kafka AND replies > 0
    GROUP BY broker_address, broker_port
    HAVING min(CASE WHEN role IN ('controller', 'raft') THEN 1 ELSE 0 END) = 1
),
-- Who asked which controllers: those of one cluster have brokers in common.
asked AS (
    SELECT a.broker_address, a.broker_port, b.broker_address AS other_address, b.broker_port AS other_port
    FROM all_connections AS a JOIN all_connections AS b ON b.client_address = a.client_address
    WHERE a.role IN ('controller', 'raft') AND b.role IN ('controller', 'raft') AND a.is_kafka AND b.is_kafka
    GROUP BY a.broker_address, a.broker_port, b.broker_address, b.broker_port
),
failed AS (
    SELECT
        s.broker_address,
        s.broker_port,
        s.last_begin_ns,
        count(*) AS attempts,
        count(*) FILTER (WHERE c.first_time_ns > s.last_begin_ns) AS newest,
        count(DISTINCT c.client_address) AS clients,
        min_by(c.connection, (c.first_time_ns, c.connection)) AS connection,
        min(c.first_time_ns) AS first_time_ns,
        max(c.first_time_ns) AS last_time_ns
    FROM connections AS c
    JOIN served AS s ON s.broker_address = c.broker_address AND s.broker_port = c.broker_port
    WHERE c.is_kafka IS NOT TRUE AND never_answered(c) AND c.one_way IS NULL
        AND c.first_time_ns > (
            SELECT max(o.last_time_ns) FROM all_connections AS o
            WHERE o.broker_address = s.broker_address AND o.broker_port = s.broker_port AND o.replies > 0
                AND o.first_time_ns < c.first_time_ns
        )
    GROUP BY s.broker_address, s.broker_port, s.last_begin_ns
    HAVING count(*) >= 3
)
SELECT
    f.broker_address || ':' || CAST(f.broker_port AS STRING) AS broker,
    f.broker_address AS host,
    f.attempts,
    CASE WHEN f.clients > 1 THEN f.clients END AS several,
    CASE WHEN f.newest < 3 THEN 'and it came back' ELSE 'and it was not back at the end of the capture' END AS back,
    f.last_begin_ns > f.last_time_ns AS is_over,
    nullif(count(o.broker_address), 0) AS others,
    CASE WHEN f.newest < 3 OR count(o.broker_address) > 0 THEN 'info' ELSE 'high' END AS severity,
    f.attempts AS weight,
    f.connection,
    f.first_time_ns,
    f.last_time_ns
FROM failed AS f
LEFT JOIN served AS o
    ON (o.broker_address <> f.broker_address OR o.broker_port <> f.broker_port)
    AND o.last_ns > greatest(f.first_time_ns, f.last_time_ns - s(3))
    AND EXISTS (
        SELECT 1 FROM asked AS a
        WHERE a.broker_address = f.broker_address AND a.broker_port = f.broker_port
            AND a.other_address = o.broker_address AND a.other_port = o.broker_port
    )
GROUP BY
    f.broker_address, f.broker_port, f.attempts, f.clients, f.connection, f.first_time_ns, f.last_time_ns, f.last_begin_ns,
    f.newest
