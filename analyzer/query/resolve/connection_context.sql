-- What an exchange takes from its connection, one row per part: endpoints, role, cluster, node, user, whether the broker mutes
-- the connection, and the time from the capture point to the broker and back.
WITH users AS (
    SELECT
        connection,
        max_by(principal, time_ns) FILTER (WHERE outcome = 'ok') AS principal,
        min(time_ns) FILTER (WHERE outcome = 'ok') AS principal_from_ns,
        max_by(claimed_user, time_ns) FILTER (WHERE outcome <> 'ok') AS claimed_user,
        max_by(sasl_mechanism, time_ns) FILTER (WHERE sasl_mechanism IS NOT NULL) AS sasl_mechanism
    FROM all_logins
    GROUP BY connection
),
-- Hosts that sent what only brokers send, and nothing that only clients do; and where controllers listen.
brokers AS (
    SELECT p.client_address
    FROM parts AS p JOIN part_evidence AS e ON e.part = p.part
    WHERE e.speaker >= 2
    GROUP BY p.client_address
    HAVING min(e.speaker) >= 3 AND max(CASE WHEN p.client_address = p.broker_address THEN 1 ELSE 0 END) = 0
),
controllers AS (
    SELECT p.broker_address, p.broker_port
    FROM parts AS p JOIN part_evidence AS e ON e.part = p.part
    WHERE e.speaker = 4 OR e.speaker = 8
    GROUP BY p.broker_address, p.broker_port
)
SELECT
    p.part,
    p.connection,
    p.tap,
    p.is_kafka,
    -- TLS in which Kafka may be; not on the web's port.
    p.tls AND p.is_kafka IS NOT TRUE AND p.broker_port <> 443 AS may_be_kafka,
    p.client_address,
    p.client_port,
    p.broker_address,
    p.broker_port,
    -- What did not end was open until the capture did.
    CASE WHEN p.close = 'none' THEN greatest(p.last_time_ns, (SELECT max(last_time_ns) FROM all_captures)) ELSE p.last_time_ns END
        AS open_until_ns,
    p.one_way,
    p.is_closed_elsewhere,
    CASE e.speaker
        WHEN 1 THEN CASE
            WHEN f.client_address IS NULL THEN 'client'
            WHEN k.broker_port IS NULL THEN 'follower'
            ELSE 'raft'
        END
        WHEN 8 THEN 'raft'
        WHEN 7 THEN 'share_coordinator'
        WHEN 6 THEN 'txn_coordinator'
        WHEN 5 THEN 'forwarding'
        WHEN 4 THEN 'controller'
        WHEN 3 THEN 'follower'
        WHEN 2 THEN CASE WHEN e.numbered = 1 AND k.broker_port IS NOT NULL THEN 'forwarding' ELSE 'client' END
    END AS role,
    e.software_name,
    e.software_version,
    e.client_rack,
    coalesce(u.sasl_mechanism, e.mechanism) AS sasl_mechanism,
    u.principal,
    u.principal_from_ns,
    CASE WHEN u.principal IS NULL THEN u.claimed_user END AS claimed_user,
    c.cluster,
    b.broker_id,
    r.mutes,
    h.capture_side,
    -- Only what was captured at the client has the way to the broker and back in its latency.
    CASE WHEN h.capture_side = 'client' THEN h.to_broker_ns ELSE 0 END AS way_ns,
    w.is_beside,
    w.is_quiet,
    w.to_broker_ns,
    w.sure_to_broker_ns,
    -- Until then bytes from before the capture may be under way, and hold up what comes behind them.
    CASE WHEN p.seen_from = 'midstream' AND NOT w.is_quiet AND NOT w.is_beside THEN p.first_time_ns + ms(500) ELSE 0 END
        AS unseen_to_ns,
    w.to_client_ns,
    w.byte_ns,
    w.broker_lag_ns,
    w.client_lag_ns,
    w.broker_lag_least_ns,
    w.client_lag_least_ns,
    w.trusts_ids
FROM parts AS p
LEFT JOIN part_evidence AS e ON e.part = p.part
LEFT JOIN part_clusters AS c ON c.part = p.part
LEFT JOIN part_brokers AS b ON b.part = p.part
LEFT JOIN muting_brokers AS r ON r.broker_address = p.broker_address AND r.broker_port = p.broker_port
LEFT JOIN capture_sides AS h
    ON h.tap = p.tap AND h.client_address = p.client_address AND h.broker_address = p.broker_address
LEFT JOIN part_ways AS w ON w.part = p.part
LEFT JOIN brokers AS f ON f.client_address = p.client_address
LEFT JOIN controllers AS k ON k.broker_address = p.broker_address AND k.broker_port = p.broker_port
LEFT JOIN users AS u ON u.connection = p.connection
