-- severity: high
-- rank: 4
-- when: exchanges having max(latency_ns) >= 800000000
-- says: broker {broker} stood still for {still_ns}: it answered nobody, while {requests|request|requests} of {clients|client|clients} waited
-- do: Look at the broker's garbage collection log and at its host at that moment: a pause of the process, of the machine, or a full disk.
-- look: kanalyze latency --broker {broker}
-- explains: head_of_line*, slow_broker, slow_replication*, request_timed_out*, unanswered, client_not_reading
-- No reply of any sort for a second or more, though requests that do not wait by design had come on at least two connections: 3 of
-- them at least. Its host took the requests (a connection without a repeated segment), so its network was there.
WITH replies AS (
    SELECT
        broker_address,
        broker_port,
        response_time_ns AS end_ns,
        lag(response_time_ns) OVER (PARTITION BY broker_address, broker_port ORDER BY response_time_ns) AS begin_ns
    FROM exchanges
    WHERE response_time_ns IS NOT NULL
),
still AS (
    SELECT broker_address, broker_port, begin_ns, end_ns
    FROM replies
    WHERE end_ns - begin_ns >= 1000000000
),
waited AS (
    SELECT
        s.broker_address || ':' || CAST(s.broker_port AS STRING) AS broker,
        s.begin_ns,
        s.end_ns,
        min(x.request_end_ns) AS first_request_ns,
        count(*) AS requests,
        count(DISTINCT coalesce(x.client_id, x.client_address)) AS clients,
        count(DISTINCT x.connection) AS connections,
        count(*) FILTER (WHERE c.client_retransmitted = 0) AS taken,
        min_by(x.exchange, (x.request_end_ns, x.exchange)) AS evidence_first,
        max_by(x.exchange, (x.response_time_ns, x.exchange)) AS evidence_last
    FROM still AS s
    JOIN exchanges AS x ON x.broker_address = s.broker_address AND x.broker_port = s.broker_port
    JOIN connections AS c ON c.connection = x.connection
    LEFT JOIN kinds AS k ON k.kind = x.kind
    WHERE coalesce(k.reach, 'broker') = 'broker' AND x.status = 'answered'
        AND x.request_end_ns BETWEEN s.begin_ns AND s.end_ns - 500000000 AND x.response_time_ns >= s.end_ns
        AND x.throttle_time_ms = 0 AND coalesce(x.muted_ns, 0) = 0
    GROUP BY s.broker_address, s.broker_port, s.begin_ns, s.end_ns
)
SELECT
    broker,
    end_ns - first_request_ns AS still_ns,
    requests,
    clients,
    end_ns - first_request_ns AS weight,
    evidence_first,
    evidence_last,
    begin_ns AS first_time_ns,
    end_ns AS last_time_ns
FROM waited
WHERE requests >= 3 AND connections >= 2 AND taken > 0 AND end_ns - first_request_ns >= 800000000
