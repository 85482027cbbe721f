-- Which consumers ask for nothing while records wait? One row per client and topic.
-- A consumer that was told of more records than it got, and asked for none of this partition for as long as it may be stuck, though its
-- host asked nothing else of the partition, nobody else did at the end, and the client was there for as long. By stretches of 5 s, so
-- that few rows are put in order. Who goes on to ask elsewhere is told of a partition all the same: its records wait.
WITH slots AS (
    SELECT
        connection,
        coalesce(topic, topic_id) AS topic,
        partition,
        time_ns // s(5) AS slot,
        min(time_ns) AS first_ns,
        max(time_ns) AS last_ns,
        max_by(lag, (time_ns, exchange)) AS lag,
        max_by(exchange, (time_ns, exchange)) AS exchange
    FROM fetch_positions
    GROUP BY connection, coalesce(topic, topic_id), partition, time_ns // s(5)
),
followed AS (
    SELECT
        c.cluster,
        c.client_address,
        s.*,
        lead(s.first_ns) OVER of_host AS next_ns,
        max(s.last_ns) OVER (PARTITION BY c.cluster, s.topic, s.partition) AS newest_ns
    FROM slots AS s JOIN connections AS c ON c.connection = s.connection
    WHERE is_client(c.role)
    WINDOW of_host AS (PARTITION BY c.cluster, c.client_address, s.topic, s.partition ORDER BY s.first_ns, s.connection)
),
asked AS (
    SELECT f.*, x.client_id, who(x) AS who, x.broker_address || ':' || CAST(x.broker_port AS STRING) AS broker
    FROM followed AS f JOIN exchanges AS x ON x.exchange = f.exchange
    WHERE f.lag > 0 AND x.api_key = api('Fetch') AND coalesce(x.replica_id, -1) < 0 AND coalesce(x.throttle_time_ms, 0) = 0
        AND no_error(x.error_code) AND (f.next_ns - f.last_ns >= impact('stuck_ns') OR f.next_ns IS NULL AND f.last_ns = f.newest_ns)
),
present AS (
    SELECT client_address, client_id, max(last_request_ns) AS last_ns FROM totals GROUP BY client_address, client_id
),
paused AS (
    SELECT a.*, coalesce(a.next_ns, p.last_ns) - a.last_ns AS paused_ns
    FROM asked AS a
    JOIN present AS p ON p.client_address = a.client_address AND p.client_id IS NOT DISTINCT FROM a.client_id
    WHERE coalesce(a.next_ns, p.last_ns) - a.last_ns >= impact('stuck_ns')
)
SELECT
    who,
    client_address,
    CASE WHEN min(broker) = max(broker) THEN min(broker) END AS broker,
    topic,
    max(paused_ns) AS longest_ns,
    max(of_partition) AS times,
    nullif(count(DISTINCT partition), 1) AS partitions,
    CASE WHEN min(partition) = max(partition) THEN min(partition) END AS partition,
    CAST(max(lag) AS BIGINT) AS lag,
    max(paused_ns) AS weight,
    max_by(connection, (paused_ns, exchange)) AS connection,
    max_by(exchange, (paused_ns, exchange)) AS evidence_before,
    min(last_ns) AS first_time_ns,
    max(last_ns + paused_ns) AS last_time_ns
FROM (SELECT *, count(*) OVER (PARTITION BY cluster, who, client_address, topic, partition) AS of_partition FROM paused) AS p
GROUP BY cluster, who, client_address, topic
