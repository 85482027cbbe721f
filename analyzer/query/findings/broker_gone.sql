-- severity: high
-- rank: 6
-- when: connections having bool_or(is_kafka IS NOT TRUE AND seen_from = 'syn' AND syn_ack_ns IS NULL AND client_stream_bytes = 0) OR count(*) FILTER (WHERE seen_from = 'syn' AND broker_stream_bytes = 0 AND close <> 'none') >= 3 OR (SELECT last_time_ns FROM time_range) - min(last_time_ns) FILTER (WHERE role = 'follower' AND close <> 'none') >= s(3)
-- says: {sort} {broker}[, before {behind},][, {alone},] became unavailable[, {stopped}][: {attempts|connection attempt|connection attempts} from {clients|address|addresses} failed after its last reply][: {never|attempt|attempts} to connect failed, from the beginning of the capture to its end, and partitions have no leader][: every connection over which it replicated from other brokers ended ({ended})][, {back}][ {away_ns} later][; meanwhile {refused_writes|write was|writes were} refused for lack of in-sync replicas]
-- do: {advice}
-- look: kanalyze connections --broker {broker}
-- explains: heartbeats_missed*, out_of_sync*, refused_connections, hung_up_at_once, unanswered*, gives_up*, not_enough_replicas*, leader_loop*, no_leader*, request_timed_out*, head_of_line, head_of_line*(Produce|OffsetCommit|TxnOffsetCommit), slow_replication*, broker_stalled*, connection_storm, metadata_storm*, slow_requests*, unexplained, repeated_connects*, silent_then_reset, failing*(ApiVersions)
-- costs: connections, unanswered, time
-- Stopped in order: the controller allowed it at about that time, and the broker was not started in between. Where an id is not known
-- it is the broker of that host, if there is but one. Who carried requests on to others is a proxy. It has moved where Metadata named it
-- at this address, and names it at another one later, while the addresses of others stay: those of another listener all differ.
WITH ids AS (
    SELECT
        broker_address || ':' || CAST(broker_port AS STRING) AS broker,
        CASE WHEN min(broker_id) = max(broker_id) THEN min(broker_id) END AS broker_id
    FROM all_connections
    WHERE broker_id IS NOT NULL
    GROUP BY broker_address, broker_port
),
proxies AS (
    SELECT
        proxy_address || ':' || CAST(proxy_port AS STRING) AS broker,
        CASE WHEN min(broker) = max(broker) THEN min(broker) END AS behind
    FROM (SELECT *, broker_address || ':' || CAST(broker_port AS STRING) AS broker FROM all_forwards WHERE proxies > 0) AS f
    GROUP BY proxy_address, proxy_port
),
moved AS (
    SELECT
        o.host || ':' || CAST(o.port AS STRING) AS broker,
        min_by(n.host || ':' || CAST(n.port AS STRING), n.first_time_ns) AS moved_to
    FROM brokers AS o
    JOIN brokers AS n ON n.cluster = o.cluster AND n.broker_id = o.broker_id AND n.first_time_ns > o.last_time_ns
    WHERE EXISTS (
        SELECT 1 FROM brokers AS k
        WHERE k.cluster = o.cluster AND k.broker_id <> o.broker_id AND k.first_time_ns <= o.last_time_ns AND k.last_time_ns >= n.first_time_ns
    )
    GROUP BY o.host, o.port
),
signs AS (
    SELECT
        e.client_address,
        e.broker_id,
        e.broker_state,
        e.time_ns,
        max(CASE WHEN e.broker_state = 'starting' THEN e.time_ns END) OVER (
            PARTITION BY e.client_address, e.broker_id ORDER BY e.time_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS started_ns,
        min(CASE WHEN e.broker_state = 'starting' THEN e.time_ns END) OVER (
            PARTITION BY e.client_address, e.broker_id ORDER BY e.time_ns ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ) AS starts_ns
    FROM all_broker_events AS e
)
SELECT
    b.* REPLACE (
        CASE WHEN p.broker IS NULL THEN b.alone END AS alone,
        CASE WHEN b.away_ns IS NULL AND m.broker IS NOT NULL THEN 'and Metadata names ' || m.moved_to || ' for it since' ELSE b.back END AS back
    ),
    CASE
        WHEN b.away_ns IS NULL AND m.broker IS NOT NULL
            THEN 'This broker has another address since, and who still tries the old one does not take up what Metadata says: restart these clients or upgrade their library, and let brokers advertise names that stay (advertised.listeners), not addresses of pods.'
        ELSE 'Check its log and its host: it was stopped, was killed, or lost its network.'
    END AS advice,
    CASE WHEN p.broker IS NULL THEN 'broker' ELSE 'proxy' END AS sort,
    p.behind,
    CASE WHEN EXISTS (
        SELECT 1 FROM signs AS s
        WHERE s.broker_state = 'shutting_down' AND s.client_address = b.host
            AND coalesce(s.broker_id = i.broker_id, b.host NOT IN (SELECT host FROM shared_broker_hosts))
            AND s.time_ns BETWEEN b.first_time_ns - s(60) AND b.last_time_ns
            AND coalesce(s.started_ns < b.first_time_ns, true) AND coalesce(s.starts_ns > b.first_time_ns, true)
    ) THEN 'stopped in order' END AS stopped
FROM lost_brokers AS b
LEFT JOIN ids AS i ON i.broker = b.broker
LEFT JOIN proxies AS p ON p.broker = b.broker
LEFT JOIN moved AS m ON m.broker = b.broker
