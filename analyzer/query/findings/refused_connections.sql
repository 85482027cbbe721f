-- severity: medium
-- rank: 24
-- when: connections having bool_or(is_kafka IS NOT TRUE AND close = 'rst' AND syn_ack_ns IS NULL)
-- says: {broker} refuses connections, {times|attempt|attempts}[ from {one_client}][ from {several|address|addresses}]
-- do: Nothing listens on this port: the broker is down, or clients use an old address or port (bootstrap.servers).
-- look: kanalyze connections --broker {broker}
-- explains: connection_storm, unreachable
-- costs: connections
-- A SYN answered by a reset, at an endpoint that speaks Kafka in this capture or that a cluster advertises; for information at another
-- port of a host to which this client speaks Kafka. An advertised name other than an address may stand for any address with its
-- port. At any port of a broker's host it takes three attempts, or two that are three seconds apart; where the capture has no Kafka at
-- all, three. A broker that answered afterwards, or asked other brokers as the only one at its address, was starting: for information.
-- `host` where no client was ever served at this port: the controller's, say, which goes with the broker. Who tries a loopback address
-- is known by no other address of its host.
WITH refused AS (
    SELECT *
    FROM connections
    WHERE is_kafka IS NOT TRUE AND never_answered() AND close = 'rst' AND broker_packets > 0
),
answering AS (
    SELECT
        broker_address,
        broker_port,
        max(first_time_ns) AS last_ns,
        max(CASE WHEN is_client(role) THEN 1 ELSE 0 END) AS served
    FROM all_connections
    WHERE is_kafka AND replies > 0
    GROUP BY broker_address, broker_port
),
asking AS (
    SELECT client_address, max(first_time_ns) AS last_ns
    FROM all_connections
    WHERE is_kafka AND replies > 0 AND NOT is_client(role) AND seen_from = 'syn'
    GROUP BY client_address
),
answered AS (
    SELECT
        a.broker_address,
        a.broker_port,
        CASE WHEN a.served = 1 AND sum(a.served) OVER (PARTITION BY a.broker_address) = 1
            THEN greatest(a.last_ns, coalesce(b.last_ns, a.last_ns)) ELSE a.last_ns END AS last_ns,
        a.served
    FROM answering AS a LEFT JOIN asking AS b ON b.client_address = a.broker_address
),
known AS (
    SELECT broker_address AS host, broker_port AS port FROM all_connections WHERE is_kafka
    UNION
    SELECT CASE WHEN NOT is_name(host) THEN host END AS host, port FROM brokers
),
-- Hosts to which a client speaks Kafka: it may have an old port as well.
spoken_to AS (
    SELECT client_address, broker_address FROM all_connections WHERE is_kafka GROUP BY client_address, broker_address
),
counted AS (
    SELECT
        r.broker_address,
        r.broker_port,
        count(*) AS times,
        count(DISTINCT r.client_address) AS clients,
        min(r.client_address) AS one_client,
        bool_or(s.broker_address IS NOT NULL) AS on_known_host,
        min_by(r.connection, (r.first_time_ns, r.connection)) AS connection,
        min(r.first_time_ns) AS first_time_ns,
        max(r.first_time_ns) AS last_time_ns
    FROM refused AS r
    LEFT JOIN spoken_to AS s ON s.client_address = r.client_address AND s.broker_address = r.broker_address
    GROUP BY r.broker_address, r.broker_port
),
judged AS (
    SELECT
        c.*,
        EXISTS (
            SELECT 1 FROM known AS k WHERE k.port = c.broker_port AND (k.host = c.broker_address OR k.host IS NULL)
        ) AS is_known,
        EXISTS (SELECT 1 FROM known AS k WHERE k.host = c.broker_address) AS on_broker
    FROM counted AS c
)
SELECT
    j.broker_address || ':' || CAST(j.broker_port AS STRING) AS broker,
    j.times,
    CASE WHEN j.clients = 1 THEN j.one_client END AS one_client,
    CASE WHEN j.clients > 1 THEN j.clients END AS several,
    CASE WHEN coalesce(l.served, 0) = 0 THEN j.broker_address END AS host,
    CASE WHEN j.clients = 1 AND j.broker_address NOT LIKE '127.%' AND j.broker_address <> '::1' THEN j.one_client END AS client_address,
    l.last_ns > j.last_time_ns AS is_over,
    CASE WHEN NOT j.is_known OR l.last_ns > j.last_time_ns THEN 'info' ELSE 'medium' END AS severity,
    j.times AS weight,
    j.connection,
    j.first_time_ns,
    j.last_time_ns
FROM judged AS j
LEFT JOIN answered AS l ON l.broker_address = j.broker_address AND l.broker_port = j.broker_port
WHERE (
        j.is_known OR j.on_known_host OR (j.times >= 3 AND (j.on_broker OR NOT EXISTS (SELECT 1 FROM known)))
        OR (j.times = 2 AND j.on_broker AND j.last_time_ns - j.first_time_ns >= s(3))
    )
    -- One or two attempts in the last second, at a broker that answered before: its application ends together with it.
    AND NOT (
        l.last_ns IS NOT NULL AND j.times < 3
        AND j.first_time_ns > (SELECT max(last_time_ns) - s(1) FROM time_range)
    )
