-- severity: medium
-- rank: 14
-- when: broker_events having max(time_ns) FILTER (WHERE broker_state IN ('pending_controlled_shutdown', 'shutting_down')) - min(begin_ns) FILTER (WHERE broker_state = 'pending_controlled_shutdown') >= s(10)
-- says: broker {node} asked to stop in order, and {waited} for {lasts_ns} for the controller to allow it[; meanwhile broker {silent} sent no heartbeat for {silent_ns}]
-- do: {advice}
-- look: kanalyze brokers
-- explains: unanswered, slow_requests, unexplained
-- costs: unanswered, time
-- For information below 30 s, which many partitions may take.
WITH silences AS (
    SELECT *, row_number() OVER (PARTITION BY controller ORDER BY lasts_ns DESC, node, first_time_ns) AS place
    FROM broker_states
    WHERE broker_state = 'silent'
)
SELECT
    b.*,
    CASE WHEN b.is_over THEN 'waited' ELSE 'has waited' END AS waited,
    CASE b.event WHEN 'controlled_shutdown' THEN 'Partitions hold it that it leads and of which no other replica is in sync (kafka-topics.sh --describe --under-replicated-partitions). After controlled.shutdown.max.retries it stops all the same, and these have no leader.'
        ELSE 'It may stop when all other brokers in service have heard who leads in its place: see which of them is behind in the metadata log (kafka-metadata-quorum.sh describe --replication), and the controller''s log. After 5 min it stops all the same.' END AS advice,
    CASE WHEN b.lasts_ns >= s(30) THEN 'medium' ELSE 'info' END AS severity,
    max_by(o.node, (o.lasts_ns, o.node)) AS silent,
    max(o.lasts_ns) AS silent_ns,
    b.lasts_ns AS weight
FROM broker_states AS b
LEFT JOIN silences AS o
    ON o.place <= 50 AND o.controller = b.controller AND o.host <> b.host
    AND o.first_time_ns < b.last_time_ns AND o.last_time_ns > b.first_time_ns
WHERE b.broker_state = 'pending_controlled_shutdown' AND b.lasts_ns >= s(10)
GROUP BY ALL
